// npm run bench -- leases: four processes ask for one key, with leases, without, and with other packages, in turns; then
// for ten thousand keys. Prints a table: calls and CPU of Redis and of Node for a request. `--seconds 2 --rounds 1`
// measures less.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { markdownTable } from 'markdown-table'
import { RATE_LIMIT_REDIS } from '../contenders/redis.ts'
import { machine, versions } from '../environment.ts'
import { bundleWithOurs, home } from '../processes/bundle.ts'
import { toChart } from '../report/chart.ts'
import { measurementOf } from '../report/measurement.ts'
import type { Measurement } from '../report/results.ts'
import { facts } from '../report/tables.ts'
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
const FASTIFY = '@fastify/rate-limit RedisStore.incr'

/** What is measured: the load, in limits, on so many keys. */
interface Case {
  readonly name: string
  readonly load: number
  readonly keys: number
  readonly lease: number
  readonly peer?: string
}

const LOADS = [0.5, 0.95, 1.1, 3]
const onOneKey = LOADS.flatMap((load): Case[] => {
  const name = `${load} × the limit`
  const own = { load, keys: 1, lease: 0 }
  return [
    { ...own, name },
    { ...own, name: `${name}, lease 250 ms`, lease: 250 },
    ...[RATE_LIMIT_REDIS, FASTIFY].map((peer) => ({ ...own, name: `${name}, ${peer}`, peer })),
  ]
})
const onManyKeys = [0, 250].map((lease): Case => {
  const name = `10,000 keys${lease > 0 ? `, lease ${lease} ms` : ''}`
  return { name, load: 1, keys: 10_000, lease }
})
const CASES = [...onOneKey, ...onManyKeys]

/** Processes start and warm up, ms. */
const WARM_UP_MS = 2500

const limit = Number(values.limit)
const seconds = Number(values.seconds)
const script = await bundleWithOurs('src/leases/leases.script.ts', 'leases')
const server = await startRedis()
const client = new Redis(server.url)
let runs = 0

/** Commands that Redis has run but for our own, and its CPU, µs. */
async function redisCosts() {
  const stats = await client.info('commandstats')
  const scripts = [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)]
  const cpu = await client.info('cpu')
  const micros = [...cpu.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)]
  return {
    calls: scripts.reduce((sum, [, calls]) => sum + Number(calls), 0),
    micros: micros.reduce((sum, [, s]) => sum + Number(s) * 1e6, 0),
  }
}

async function measure({ name, load, keys, lease, peer }: Case) {
  runs += 1
  const from = Date.now() + WARM_UP_MS
  const until = from + seconds * 1000
  const rate = (load * limit) / PROCESSES
  const prefix = `run-${runs}`
  const task = { url: server.url, prefix, limit, lease, peer, keys, rate, from, until }
  const asked = Array.from({ length: PROCESSES }, async () => {
    const args = [script, JSON.stringify(task satisfies LeaseTask)]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    return JSON.parse(stdout) as LeaseCosts
  })
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS))
  const before = await redisCosts()
  await new Promise((resolve) => setTimeout(resolve, until - Date.now()))
  const after = await redisCosts()
  const processes = await Promise.all(asked)
  const sumOf = (name: keyof LeaseCosts) => processes.reduce((sum, each) => sum + each[name], 0)
  return {
    ...{ name, load, keys, lease, peer },
    calls: (after.calls - before.calls) / seconds,
    redis: (after.micros - before.micros) / sumOf('asked'),
    node: sumOf('micros') / sumOf('asked'),
    median: sumOf('median') / PROCESSES,
    admitted: sumOf('admitted') / seconds / limit,
  }
}

type Run = Awaited<ReturnType<typeof measure>>

/** The name of a bar. */
function contenderOf({ lease, peer }: Run): string {
  if (peer !== undefined) return peer
  return lease > 0 ? OURS : 'without\u00A0lease'
}

function rowOf(name: string, all: readonly Run[]): string[] {
  const middle = (figure: 'calls' | 'redis' | 'node' | 'median' | 'admitted') =>
    all.map((run) => run[figure]).sort((a, b) => a - b)[all.length >> 1] as number
  return [
    name,
    middle('calls').toFixed(0),
    middle('redis').toFixed(2),
    middle('node').toFixed(1),
    middle('median').toFixed(1),
    `${(100 * middle('admitted')).toFixed(1)} %`,
  ]
}

try {
  const before = machine()
  const date = new Date().toISOString()
  const installed = await versions()
  const measured: Run[] = []
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const each of CASES) measured.push(await measure(each))
  const rows = CASES.map(({ name }) =>
    rowOf(
      name,
      measured.filter((run) => run.name === name),
    ),
  )
  const measurements = LOADS.map((load): Measurement => {
    const title = `${load} × the limit: CPU of Redis for a request`
    const shown = measured.filter((run) => run.load === load && run.keys === 1)
    const samples = new Map(
      shown.map((run) => {
        const own = shown.filter((other) => contenderOf(other) === contenderOf(run))
        return [contenderOf(run), own]
      }),
    )
    const about = { title, chart: title, unit: 'µs', reference: OURS } as const
    return measurementOf(samples, about, ({ redis }) => redis)
  })
  const head = ['', 'calls/s', 'Redis, µs', 'Node, µs', 'median, µs', 'admitted']
  if (values.write) {
    const chartOf = (columns: 1 | 2) =>
      toChart({ date, seconds, machine: before, versions: installed, measurements }, columns)
    writeFileSync(join(home, '../../docs/images/leases.svg'), chartOf(2))
    writeFileSync(join(home, '../../docs/images/leases-narrow.svg'), chartOf(1))
  }
  console.log([facts(before), markdownTable([head, ...rows])].join('\n\n'))
} finally {
  await client.quit()
  await server.stop()
}
