// npm run bench -- calls: how long Redis is busy with one call of each kind, at the documented maxima. `--runs 1`
// measures less.

import { parseArgs } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { markdownTable } from 'markdown-table'
import { beginReport } from '../report/print.ts'
import { callsOf } from './calls-of.ts'
import { type Case, cases } from './cases.ts'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '15' } } })

/**
 * The time of each call of a case, by SLOWLOG, µs. That counts the time for which Redis waits for a processor too.
 * So each call is taken at the best of several runs, in which the same calls come in the same order.
 */
async function bestOf(each: Case): Promise<readonly number[]> {
  // The first run loads the scripts.
  await callsOf(client, each)
  let { micros: best } = await callsOf(client, each)
  for (let run = 1; run < Number(values.runs); run += 1) {
    const { micros } = await callsOf(client, each)
    best = best.map((time, i) => Math.min(time, micros[i] ?? time))
  }
  return best
}

const print = beginReport()
const server = await startRedis({ args: ['--save', ''] })
const client = new Redis(server.url)
try {
  const rows = [['call', 'at the maxima', 'calls', 'the longest, ms']]
  for (const each of cases) {
    const calls = await bestOf(each)
    const longest = (Math.max(...calls) / 1000).toFixed(2)
    rows.push([each.kind, each.what, `${calls.length}`, longest])
  }
  await print([markdownTable(rows, { align: ['l', 'l', 'r', 'r'] })], ['ioredis'])
} finally {
  client.disconnect()
  await server.stop()
}
