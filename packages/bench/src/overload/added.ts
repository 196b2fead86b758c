import type { RequestListener } from 'node:http'
import { shedLoad } from '@sluice/node/overload'
import { inject } from '../contenders/inject.ts'

const REQUESTS = 5000
const ROUNDS = 12

const bare: RequestListener = (_, response) => void response.end('ok')
const shed = shedLoad()
const shedding: RequestListener = (request, response) =>
  void shed(request, response, () => bare(request, response))

/** The CPU time of a request, µs: one in each turn of the event loop. */
async function cpuOf(listener: RequestListener): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < REQUESTS; i += 1)
    await new Promise((done) => setImmediate(() => inject(listener).then(done)))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / REQUESTS
}

/** The CPU time that `shedLoad` adds to a request that it admits, µs: the least of interleaved rounds of each. */
export async function measureAdded(): Promise<number> {
  const without: number[] = []
  const having: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    without.push(await cpuOf(bare))
    having.push(await cpuOf(shedding))
  }
  return Math.min(...having) - Math.min(...without)
}
