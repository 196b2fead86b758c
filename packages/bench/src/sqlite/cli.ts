// npm run bench -- sqlite: what a decision takes that several processes of a machine share, beside its peers.
// Prints tables, and writes no file. `--rounds 3` measures less.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { OURS_IN_SQLITE, sqliteContenders } from '../contenders/sqlite.ts'
import { machine, packageVersion } from '../environment.ts'
import { bundleScripts, home } from '../processes/bundle.ts'
import type { Pattern } from '../redis/patterns.ts'
import { measurementOf } from '../report/measurement.ts'
import type { Measurement, Unit } from '../report/results.ts'
import { facts, measurementTable } from '../report/tables.ts'
import type { SharingCost, SharingTask } from './sharing.script.ts'

const PROCESSES = [1, 2, 8]
const PATTERNS: readonly Pattern[] = ['one at a time', '50 in a turn']
/** How long each contender decides in each round, ms. */
const MS = 1000
const FIGURES: readonly { title: string; unit: Unit; of: keyof SharingCost }[] = [
  { title: 'Time for each decision of all processes', unit: 'µs', of: 'micros' },
  { title: 'CPU of the processes', unit: 'µs', of: 'cpuMicros' },
  { title: 'Median latency', unit: 'ms', of: 'p50Ms' },
  { title: '99th percentile of the latency', unit: 'ms', of: 'p99Ms' },
]

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const rounds = Number(values.rounds)
const names = Object.keys(sqliteContenders)
const begun = performance.now()
const before = machine()
await bundleScripts()
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
const socket = join(folder, 'redis.sock')
const redis = await startRedis({ args: ['--unixsocket', socket] })
const measurements: Measurement[] = []
try {
  for (const processes of PROCESSES) {
    for (const pattern of PATTERNS) {
      const samples = new Map<string, SharingCost[]>(names.map((name) => [name, []]))
      for (let round = 0; round < rounds; round += 1) {
        // In another order each time: none is always first, or behind the same other.
        for (const [i] of names.entries()) {
          const contender = names[(i + round) % names.length] as string
          const path = join(folder, `${measurements.length}-${round}-${i}.db`)
          const task = { contender, processes, pattern, ms: MS, path, socket }
          samples.get(contender)?.push(await sample(task))
        }
      }
      for (const { title, unit, of: figure } of FIGURES) {
        const where = `${title}, ${processes} processes, ${pattern}`
        const about = { title: where, unit, reference: OURS_IN_SQLITE }
        measurements.push(measurementOf(samples, about, (cost) => cost[figure]))
      }
    }
  }
} finally {
  await redis.stop()
  rmSync(folder, { recursive: true })
}
const packages = ['rate-limiter-flexible', '@express-rate-limit/cluster-memory-store', 'ioredis']
const versions = Object.fromEntries(packages.map((name) => [name, packageVersion(name)]))
const took = `${Math.round((performance.now() - begun) / 1000)} s`
console.log(
  [
    facts({ ...before, 'load after': machine()['load before'] as string, took }),
    facts({ Node: process.versions.node, SQLite: process.versions.sqlite as string, ...versions }),
    ...measurements.map(measurementTable),
  ].join('\n\n'),
)

async function sample(task: SharingTask): Promise<SharingCost> {
  const script = join(home, 'dist/sharing.mjs')
  const env = { ...process.env, NODE_ENV: 'production' }
  // Those that it forks get the same flags.
  const flags = ['--no-warnings', '--import', join(home, 'src/processes/published.mjs')]
  const args = [...flags, script, JSON.stringify(task)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env })
  return JSON.parse(stdout)
}
