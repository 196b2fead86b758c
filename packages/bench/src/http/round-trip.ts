import { Redis } from 'ioredis'
import { median } from '../statistics/quartiles.ts'

const PINGS = 500

/** One round trip to a Redis that has nothing else to do, ms. */
export async function roundTripMs(url: string): Promise<number> {
  const client = new Redis(url)
  const times: number[] = []
  for (let i = 0; i < PINGS; i += 1) {
    const begun = performance.now()
    await client.ping()
    times.push(performance.now() - begun)
  }
  client.disconnect()
  return median(times)
}
