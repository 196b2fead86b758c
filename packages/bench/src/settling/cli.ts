// npm run bench -- settling: what `settle` and `reserve` cost beside a plain request, and what `shedLoad` costs: CPU
// that they add to an injected request of @sluice/node in memory, and Redis' script time, one request at a time. All
// alternate in one process. Prints tables, and writes no file. `--rounds 5` measures less.

import { parseArgs } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { install } from '../processes/install.ts'
import { runTask } from '../processes/run-task.ts'
import { addedTo, measurementOf, rowOf } from '../report/measurement.ts'
import { beginReport } from '../report/print.ts'
import type { SettlingCosts, SettlingTask } from './settling.script.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } })
const print = beginReport()
await install()
const server = await startRedis()
try {
  const task: SettlingTask = { rounds: Number(values.rounds), url: server.url }
  const { memory, redis } = await runTask<SettlingCosts>('settling/settling', task)
  const about = { unit: 'µs', reference: 'plain' } as const
  const whole = { title: 'CPU for a request in memory', ...about }
  const all = measurementOf(new Map(memory), whole, (micros) => micros)
  const added = addedTo(rowOf(all, 'bare'), all.rows)
  const onRedis = { title: "Redis' script time of a request", ...about }
  await print([
    all,
    { ...whole, title: 'CPU that is added to it', rows: added },
    measurementOf(new Map(redis), onRedis, (micros) => micros),
  ])
} finally {
  await server.stop()
}
