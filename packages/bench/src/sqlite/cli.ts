// npm run bench -- sqlite: what a decision takes that several processes of a machine share, beside its peers.
// Prints tables, and writes no file. `--rounds 3` measures less.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { OURS_IN_SQLITE, sqliteContenders } from '../contenders/sqlite.ts'
import type { FigureOf } from '../decisions/measure.ts'
import { install } from '../processes/install.ts'
import { ready, runRounds } from '../processes/rounds.ts'
import { runTask } from '../processes/run-task.ts'
import { measurementOf } from '../report/measurement.ts'
import { beginReport } from '../report/print.ts'
import type { Measurement } from '../report/results.ts'
import type { SharingCost, SharingTask } from './sharing.script.ts'

/** How long each contender decides in each round, ms. */
const MS = 1000
const FIGURES: readonly FigureOf<SharingCost>[] = [
  { title: 'Time for each decision of all processes', unit: 'µs', of: 'micros' },
  { title: 'CPU of the processes', unit: 'µs', of: 'cpuMicros' },
  { title: 'Median latency', unit: 'ms', of: 'p50Ms' },
  { title: '99th percentile of the latency', unit: 'ms', of: 'p99Ms' },
]

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const print = beginReport()
await install()
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
const socket = join(folder, 'redis.sock')
const redis = await startRedis({ args: ['--unixsocket', socket] })
let files = 0

/** Each measurement has processes of its own. */
function contestOf(contender: string, load: Pick<SharingTask, 'processes' | 'pattern'>) {
  return ready(contender, () => {
    files += 1
    const path = join(folder, `${files}.db`)
    const task: SharingTask = { contender, ...load, ms: MS, path, socket }
    // Those that it forks get the same flags.
    return runTask<SharingCost>('sqlite/sharing', task, ['--no-warnings'])
  })
}

try {
  const measurements: Measurement[] = []
  for (const processes of [1, 2, 8]) {
    for (const pattern of ['one at a time', '50 in a turn'] as const) {
      const contests = Object.keys(sqliteContenders).map((contender) => {
        return contestOf(contender, { processes, pattern })
      })
      const costs = await runRounds(contests, { starts: 1, rounds: Number(values.rounds) })
      for (const { of, ...about } of FIGURES) {
        const title = `${about.title}, ${processes} processes, ${pattern}`
        const named = { ...about, title, reference: OURS_IN_SQLITE }
        measurements.push(measurementOf(costs, named, (cost) => cost[of]))
      }
    }
  }
  const packages = ['rate-limiter-flexible', '@express-rate-limit/cluster-memory-store', 'ioredis']
  await print(measurements, packages, { SQLite: process.versions.sqlite as string })
} finally {
  await redis.stop()
  rmSync(folder, { recursive: true })
}
