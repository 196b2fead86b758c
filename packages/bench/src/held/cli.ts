// npm run bench -- held: what one more slot or reservation costs beside those that its key holds already.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Ledger, memoryStore, redisStore, type Store } from '@sluice/core'
import { postgresStore } from '@sluice/postgres'
import { sqliteStore } from '@sluice/sqlite'
import { startPostgres } from '@sluice/test-harness/postgres'
import { startRedis } from '@sluice/test-harness/redis'
import { whyNoSqlite } from '@sluice/test-harness/sqlite'
import { Redis } from 'ioredis'
import { markdownTable } from 'markdown-table'
import { Pool } from 'pg'
import { machine, packageVersion, versions } from '../environment.ts'
import { KINDS, type Kind, VERBS, type Verb } from './kinds.ts'
import { costOf, MAXIMA } from './maxima.ts'

/** How many the key holds beside the one that is measured. */
const BESIDE = [0, 90, 900]

/** Calls that are measured together: the key has room for so many more. */
const CALLS = 50

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    /** Runs of each call at the documented maxima; 0: none. */
    maxima: { type: 'string', default: '3' },
  },
})

/** Says what the calls that were made took together, µs. */
type Measure = (act: () => Promise<void>) => Promise<number>

const redis = await startRedis({ args: ['--save', ''] })
const client = new Redis(redis.url)
const postgres = await startPostgres()
const pool = new Pool({ connectionString: postgres.url })
const onPostgres = postgresStore(pool)
const folder = mkdtempSync(join(tmpdir(), 'sluice-held-'))
const onSqlite = () => sqliteStore(join(folder, 'limits.db'))
let prefixes = 0

async function scriptMicros(act: () => Promise<void>): Promise<number> {
  await client.config('RESETSTAT')
  await act()
  return Number(/cmdstat_evalsha:calls=\d+,usec=(\d+)/.exec(await client.info('commandstats'))?.[1])
}

async function serverMicros(act: () => Promise<void>): Promise<number> {
  const before = postgres.cpuMicros()
  await act()
  let micros = 0
  for (const [pid, after] of postgres.cpuMicros()) micros += after - (before.get(pid) ?? 0)
  return micros
}

async function elapsedMicros(act: () => Promise<void>): Promise<number> {
  const from = performance.now()
  await act()
  return (performance.now() - from) * 1000
}

/** CPU of this process, µs. */
async function ownMicros(act: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await act()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** Prints what a call costs where a key holds as much as it can, in the best of some runs. */
async function printMaxima(): Promise<void> {
  const path = join(folder, 'maxima.db')
  const hasSqlite = whyNoSqlite() === undefined
  const opens: (readonly [string, (clock: () => number) => Store, Measure])[] = [
    ['memory', (clock) => memoryStore({ clock }), ownMicros],
    ['PostgreSQL', (clock) => postgresStore(pool, { clock }), serverMicros],
    ...(hasSqlite
      ? [['SQLite', (clock: () => number) => sqliteStore(path, { clock }), ownMicros] as const]
      : []),
  ]
  const rows = [['CPU, µs', ...opens.map(([name]) => name)]]
  for (const each of MAXIMA) {
    const row = [each.what]
    for (const [, open, measure] of opens) {
      let best = Infinity
      for (let run = 0; run < Number(values.maxima); run += 1)
        best = Math.min(best, await costOf(each, open, measure))
      row.push(best.toFixed(0))
    }
    rows.push(row)
  }
  console.log(`\n${markdownTable(rows, { align: ['l', 'r', 'r', 'r'] })}`)
}

/** Measures a call of each kind in the best of the rounds, µs. */
async function costs(store: Store, kind: Kind, beside: number, measure: Measure) {
  prefixes += 1
  const ledger: Ledger = store.open([kind.keyspace], `held-${prefixes}`)
  for (let slot = 1; slot <= beside; slot += 1) await kind.act.decide(ledger, slot)
  const best: Record<Verb, number> = { decide: Infinity, renew: Infinity, settle: Infinity }
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const verb of VERBS) {
      const micros = await measure(async () => {
        for (let call = 1; call <= CALLS; call += 1) await kind.act[verb](ledger, beside + call)
      })
      best[verb] = Math.min(best[verb], micros / CALLS)
    }
  return VERBS.map((verb) => best[verb])
}

try {
  await onPostgres.migrate()
  const stores: (readonly [string, Store, Measure])[] = [
    ['script time of Redis', redisStore(client), scriptMicros],
    ['memory', memoryStore(), elapsedMicros],
    ['CPU of PostgreSQL', onPostgres, serverMicros],
    ['PostgreSQL, as the client sees it', onPostgres, elapsedMicros],
    ...(whyNoSqlite() === undefined ? [['SQLite', onSqlite(), elapsedMicros] as const] : []),
  ]
  const rows = [['µs', 'the key holds', ...VERBS]]
  for (const [where, store, measure] of stores)
    for (const kind of KINDS)
      for (const beside of BESIDE) {
        const micros = await costs(store, kind, beside, measure)
        rows.push([`${kind.name}: ${where}`, `${beside}`, ...micros.map((each) => each.toFixed(1))])
      }
  console.log(markdownTable(rows, { align: ['l', 'r', 'r', 'r', 'r'] }))
  if (Number(values.maxima) > 0) await printMaxima()
  const { Node, Redis: version } = await versions()
  const facts = [`Node ${Node}`, `Redis ${version}`, `ioredis ${packageVersion('ioredis')}`]
  console.log(`\n${[...facts, ...Object.values(machine())].join(', ')}`)
} finally {
  client.disconnect()
  await pool.end()
  await postgres.stop()
  await redis.stop()
  rmSync(folder, { recursive: true })
}
