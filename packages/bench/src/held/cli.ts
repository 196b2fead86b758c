// npm run bench -- held: what one more slot or reservation costs beside those that its key holds already, and what a
// call costs where a key holds as much as it can, on each store. `--rounds 1` measures less.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { memoryStore, redisStore, type Store } from '@sluice/core'
import { postgresStore } from '@sluice/postgres'
import { sqliteStore } from '@sluice/sqlite'
import { startPostgres } from '@sluice/test-harness/postgres'
import { startRedis } from '@sluice/test-harness/redis'
import { whyNoSqlite } from '@sluice/test-harness/sqlite'
import { Redis } from 'ioredis'
import { markdownTable } from 'markdown-table'
import { Pool } from 'pg'
import { databaseMeter, ownCpuMicros, redisMeter } from '../decisions/usage.ts'
import { beginReport } from '../report/print.ts'
import { CASES, costOf } from './cases.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } })

const redis = await startRedis({ args: ['--save', ''] })
const client = new Redis(redis.url)
const postgres = await startPostgres()
const pool = new Pool({ connectionString: postgres.url })
const folder = mkdtempSync(join(tmpdir(), 'sluice-held-'))

/** Says what the calls that were made took together, µs. */
type Measure = (act: () => Promise<void>) => Promise<number>
type Open = (clock: () => number) => Store

const scripts = redisMeter([client])
const backends = databaseMeter(postgres)
const elapsedMicros: Measure = async (act) => {
  const from = performance.now()
  await act()
  return (performance.now() - from) * 1000
}
const onPostgres: Open = (clock) => postgresStore(pool, { clock })
const STORES: readonly (readonly [string, Open, Measure])[] = [
  [
    'script time of Redis',
    (clock) => redisStore(client, { clock }),
    async (act) => (await scripts(act)).usage.scriptMicros,
  ],
  ['memory', (clock) => memoryStore({ clock }), ownCpuMicros],
  ['CPU of PostgreSQL', onPostgres, async (act) => (await backends(act)).usage.cpuMicros],
  ['PostgreSQL, as the client sees it', onPostgres, elapsedMicros],
  ...(whyNoSqlite() === undefined
    ? [
        [
          'SQLite',
          (clock: () => number) => sqliteStore(join(folder, 'limits.db'), { clock }),
          ownCpuMicros,
        ] as const,
      ]
    : []),
]

const print = beginReport()
try {
  await postgresStore(pool).migrate()
  const rows = [['µs, the best of the rounds', ...STORES.map(([name]) => name)]]
  for (const each of CASES) {
    const row = [each.what]
    for (const [, open, measure] of STORES) {
      let best = Infinity
      for (let round = 0; round < Number(values.rounds); round += 1)
        best = Math.min(best, await costOf(each, open, measure))
      row.push(best.toFixed(1))
    }
    rows.push(row)
  }
  await print([markdownTable(rows, { align: ['l', 'r', 'r', 'r', 'r', 'r'] })], ['ioredis', 'pg'])
} finally {
  client.disconnect()
  await pool.end()
  await postgres.stop()
  await redis.stop()
  rmSync(folder, { recursive: true })
}
