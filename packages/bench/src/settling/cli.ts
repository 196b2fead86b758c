// npm run bench -- settling: what `settle` and `reserve` cost beside a plain request: CPU that they add to an
// injected request of @sluice/node in memory, and Redis' script time, one request at a time. All alternate in one
// process. Prints tables, and writes no file. `--rounds 5` measures less.

import { execFile } from 'node:child_process'
import { parseArgs, promisify } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { machine } from '../environment.ts'
import { bundleWithOurs } from '../processes/bundle.ts'
import { addedTo, measurementOf, rowOf } from '../report/measurement.ts'
import { facts, measurementTable } from '../report/tables.ts'
import type { SettlingCosts } from './settling.script.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } })
const before = machine()
const script = await bundleWithOurs('src/settling/settling.script.ts', 'settling')
const server = await startRedis()
try {
  const args = [script, values.rounds, server.url]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const { memory, redis }: SettlingCosts = JSON.parse(stdout)
  const load = machine()['load before'] as string
  const about = { unit: 'µs', reference: 'plain' } as const
  const whole = { title: 'CPU for a request in memory', ...about }
  const all = measurementOf(new Map(memory), whole, (micros) => micros)
  const added = addedTo(rowOf(all, 'no limiter'), all.rows)
  const onRedis = { title: "Redis' script time of a request", ...about }
  const tables = [
    all,
    { ...whole, title: 'CPU that a limiter in memory adds to it', rows: added },
    measurementOf(new Map(redis), onRedis, (micros) => micros),
  ]
  console.log(
    [facts({ ...before, 'load after': load }), ...tables.map(measurementTable)].join('\n\n'),
  )
} finally {
  await server.stop()
}
