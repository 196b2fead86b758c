// npm run bench -- calls: how long Redis is busy with one call of each kind, at the documented maxima.

import { parseArgs } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { markdownTable } from 'markdown-table'
import { machine, packageVersion, versions } from '../environment.ts'
import { cases } from './cases.ts'
import { longestCall } from './longest-call.ts'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '15' } } })

const server = await startRedis({ args: ['--save', ''] })
const client = new Redis(server.url)
try {
  const rows = [['call', 'at the maxima', 'calls', 'the longest, ms']]
  for (const each of cases) {
    const { calls, micros } = await longestCall(client, each, Number(values.runs))
    rows.push([each.kind, each.what, `${calls}`, (micros / 1000).toFixed(2)])
  }
  console.log(markdownTable(rows, { align: ['l', 'l', 'r', 'r'] }))
  const { Node, Redis: redis } = await versions()
  const facts = [`Node ${Node}`, `Redis ${redis}`, `ioredis ${packageVersion('ioredis')}`]
  console.log(`\n${[...facts, ...Object.values(machine())].join(', ')}`)
} finally {
  client.disconnect()
  await server.stop()
}
