// npm run bench -- hono: the CPU that a limiter adds to a request of Hono over sockets, beside
// hono-rate-limiter: on @hono/node-server 2 and 1, and on Bun where npm brings it. Prints tables, and writes no
// file. `--rounds 4` measures less.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { AS_PEER } from '../contenders/http.ts'
import { machine, packageVersion } from '../environment.ts'
import { bundleWithOurs } from '../processes/bundle.ts'
import { type Contest, runRounds } from '../processes/rounds.ts'
import { addedTo, measurementOf, rowOf } from '../report/measurement.ts'
import type { Measurement } from '../report/results.ts'
import { facts, measurementTable } from '../report/tables.ts'
import { sendRequests } from './load.ts'
import type { ServingTask } from './serving.script.ts'

const CONNECTIONS = 10
/** Requests of each contender before the rounds, and in each of them. */
const WARM_UP = 10_000
const REQUESTS = 3000
const CONTENDERS = ['bare', 'sluice', AS_PEER, 'hono-rate-limiter'] as const

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } })
const bun = process.env.BUN
const begun = performance.now()
const before = machine()
const script = await bundleWithOurs('src/hono/serving.script.ts', 'serving')
const redis = await startRedis()
const servers: readonly ServingTask['server'][] = [
  'node-server 2',
  'node-server 1',
  ...(bun === undefined ? [] : (['Bun'] as const)),
]
const tables: Measurement[] = []
try {
  for (const server of servers) {
    for (const url of [undefined, redis.url]) tables.push(await measure(server, url))
  }
} finally {
  await redis.stop()
}
const packages = ['hono', '@hono/node-server', 'node-server1', 'hono-rate-limiter', 'ioredis']
const versions = Object.fromEntries(packages.map((name) => [name, packageVersion(name)]))
const took = `${Math.round((performance.now() - begun) / 1000)} s`
console.log(
  [
    facts({ ...before, 'load after': machine()['load before'] as string, took }),
    facts({ Node: process.versions.node, ...versions }),
    ...tables.map(measurementTable),
  ].join('\n\n'),
)

async function measure(
  server: ServingTask['server'],
  url: string | undefined,
): Promise<Measurement> {
  const contests = CONTENDERS.map((contender) => serving({ server, contender, redis: url }))
  const rounds = { starts: 2, rounds: Math.ceil(Number(values.rounds) / 2) }
  const costs = await runRounds(contests, rounds, () => {})
  const title = `CPU that a limiter ${url === undefined ? 'in memory' : 'on Redis'} adds to a request, ${server}`
  const all = measurementOf(costs, { title, unit: 'µs' }, (cost) => cost)
  return { ...all, reference: 'hono-rate-limiter', rows: addedTo(rowOf(all, 'bare'), all.rows) }
}

/** One sample is the CPU time of the server for one request, µs. */
function serving(task: ServingTask): Contest<number> {
  const runtime = task.server === 'Bun' ? (bun as string) : process.execPath
  const flags = task.server === 'Bun' ? [] : ['--no-memory-reducer']
  return {
    contender: task.contender,
    async start() {
      const child = spawn(runtime, [...flags, script, JSON.stringify(task)], {
        env: { ...process.env, NODE_ENV: 'production' },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const exited = once(child, 'exit')
      const [port] = await once(createInterface(child.stdout), 'line')
      const cpuMicros = async () =>
        Number(await (await fetch(`http://127.0.0.1:${port}/cpu`)).text())
      const send = (requests: number) =>
        sendRequests(Number(port), { requests, connections: CONNECTIONS })
      await send(WARM_UP)
      return {
        async measure() {
          const from = await cpuMicros()
          await send(REQUESTS)
          return ((await cpuMicros()) - from) / REQUESTS
        },
        async stop() {
          child.kill()
          await exited
        },
      }
    },
  }
}
