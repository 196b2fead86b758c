// npm run bench -- leases: four processes ask for one key, with leases, without, and with other packages, in turns; then
// for ten thousand keys. Prints a table: calls and CPU of Redis and of Node for a request. `--seconds 2 --rounds 1`
// measures less.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { markdownTable } from 'markdown-table'
import { RATE_LIMIT_REDIS } from '../contenders/redis.ts'
import { redisMeter } from '../decisions/usage.ts'
import { machine, versionsOf } from '../environment.ts'
import { home, install } from '../processes/install.ts'
import { runTask } from '../processes/run-task.ts'
import { toChart } from '../report/chart.ts'
import { measurementOf } from '../report/measurement.ts'
import { beginReport } from '../report/print.ts'
import type { Measurement } from '../report/results.ts'
import { median } from '../statistics/quartiles.ts'
import type { LeaseCosts, LeaseTask } from './leases.script.ts'

const { values } = parseArgs({
  options: {
    /** How long each run is measured, s. */
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    /** Units in a second. */
    limit: { type: 'string', default: '4000' },
    /** Writes the charts of docs/performance.md. */
    write: { type: 'boolean', default: false },
  },
})

const PROCESSES = 4
const OURS = 'sluice'
const CONTENDERS: readonly Pick<Case, 'contender' | 'lease' | 'peer'>[] = [
  { contender: 'without\u00A0lease', lease: 0 },
  { contender: OURS, lease: 250 },
  ...[RATE_LIMIT_REDIS, '@fastify/rate-limit RedisStore.incr'].map((peer) => {
    return { contender: peer, lease: 0, peer }
  }),
]
const LOADS = [0.5, 0.95, 1.1, 3]

/** What is measured: the load, in limits, on so many keys. */
interface Case {
  readonly contender: string
  readonly lease: number
  readonly peer?: string
  readonly load: number
  readonly keys: number
}

const CASES: readonly Case[] = [
  ...LOADS.flatMap((load) => CONTENDERS.map((each) => ({ ...each, load, keys: 1 }))),
  ...CONTENDERS.slice(0, 2).map((each) => ({ ...each, load: 1, keys: 10_000 })),
]

/** Processes start and warm up, ms. */
const WARM_UP_MS = 2500

const limit = Number(values.limit)
const seconds = Number(values.seconds)
const print = beginReport()
await install()
const server = await startRedis()
const client = new Redis(server.url)
const meter = redisMeter([client])
let runs = 0

async function measure({ load, keys, lease, peer }: Case) {
  runs += 1
  const from = Date.now() + WARM_UP_MS
  const until = from + seconds * 1000
  const rate = (load * limit) / PROCESSES
  const prefix = `run-${runs}`
  const task = { url: server.url, prefix, limit, lease, peer, keys, rate, from, until }
  const asked = Array.from({ length: PROCESSES }, () =>
    runTask<LeaseCosts>('leases/leases', task satisfies LeaseTask),
  )
  await setTimeout(WARM_UP_MS)
  const { usage } = await meter(() => setTimeout(until - Date.now()))
  const processes = await Promise.all(asked)
  const sumOf = (name: keyof LeaseCosts) => processes.reduce((sum, each) => sum + each[name], 0)
  return {
    calls: usage.calls / seconds,
    redis: usage.cpuMicros / sumOf('asked'),
    node: sumOf('micros') / sumOf('asked'),
    median: sumOf('median') / PROCESSES,
    admitted: sumOf('admitted') / seconds / limit,
  }
}

type Run = Awaited<ReturnType<typeof measure>>

function rowOf([{ load, keys, contender }, all]: readonly [Case, readonly Run[]]): string[] {
  const middle = (figure: keyof Run) => median(all.map((run) => run[figure]))
  return [
    keys > 1 ? `${keys.toLocaleString('en')} keys` : `${load} × the limit`,
    contender,
    middle('calls').toFixed(0),
    middle('redis').toFixed(2),
    middle('node').toFixed(1),
    middle('median').toFixed(1),
    `${(100 * middle('admitted')).toFixed(1)} %`,
  ]
}

try {
  const facts = {
    date: new Date().toISOString(),
    seconds,
    machine: machine(),
    versions: await versionsOf([]),
  }
  const measured = CASES.map((each) => [each, [] as Run[]] as const)
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const [each, own] of measured) own.push(await measure(each))
  const measurements = LOADS.map((load): Measurement => {
    const title = `${load} × the limit: CPU of Redis for a request`
    const shown = measured.filter(([each]) => each.load === load && each.keys === 1)
    const samples = new Map(shown.map(([{ contender }, own]) => [contender, own]))
    const about = { title, chart: title, unit: 'µs', reference: OURS } as const
    return measurementOf(samples, about, ({ redis }) => redis)
  })
  if (values.write) {
    for (const [name, columns] of [['', 2] as const, ['-narrow', 1] as const]) {
      const chart = toChart({ ...facts, measurements }, columns)
      writeFileSync(join(home, `../../docs/images/leases${name}.svg`), chart)
    }
  }
  const head = ['load', '', 'calls/s', 'Redis, µs', 'Node, µs', 'median, µs', 'admitted']
  await print([markdownTable([head, ...measured.map(rowOf)])])
} finally {
  await client.quit()
  await server.stop()
}
