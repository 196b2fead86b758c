import { Worker } from 'node:worker_threads'
import {
  ClusterMemoryStorePrimary,
  ClusterMemoryStoreWorker,
} from '@express-rate-limit/cluster-memory-store'
import { memoryStore } from '@sluice/core'
import { sqliteStore } from '@sluice/sqlite'
import type { Options } from 'express-rate-limit'
import { Redis } from 'ioredis'
import {
  RateLimiterCluster,
  RateLimiterClusterMaster,
  RateLimiterSQLite,
} from 'rate-limiter-flexible'
import { decideBy, FLEXIBLE, withTable } from './flexible.ts'
import { onStore } from './sluice.ts'
import { type Decide, WINDOW_MS } from './terms.ts'

export const OURS_IN_SQLITE = 'sluice sqliteStore'

/** Where the counts are that processes share. */
export interface Places {
  /** A file that does not exist yet. */
  readonly path: string
  /** The socket of a Redis. */
  readonly socket: string
}

interface Shared {
  /** Runs in the process that has forked the others. */
  readonly primary?: () => void
  /** Makes it in each of the others. */
  readonly make: (places: Places) => Decide | Promise<Decide>
}

interface Statement {
  run(...values: unknown[]): unknown
  get(...values: unknown[]): unknown
}
interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
}

/** A file that waits for the lock as better-sqlite3 does by default, and never for the disk. */
function open(path: string): Database {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
    DatabaseSync: new (path: string) => Database
  }
  const database = new DatabaseSync(path)
  database.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
  return database
}

const ECHO =
  "require('node:worker_threads').parentPort.on('message', function (key) { this.postMessage(key) })"

/** Contenders by name, of which several processes run at the same time. */
export const sqliteContenders: { readonly [name: string]: Shared } = {
  [OURS_IN_SQLITE]: { make: ({ path }) => onStore(sqliteStore(path)) },
  'sluice memoryStore, which does not share': { make: () => onStore(memoryStore()) },
  'sluice Redis, Unix socket': { make: ({ socket }) => onStore(new Redis(socket)) },

  'rate-limiter-flexible RateLimiterCluster.consume': {
    primary: () => void new RateLimiterClusterMaster(),
    make: () => {
      const terms = { ...FLEXIBLE, keyPrefix: 'bench', timeoutMs: 30_000 }
      return decideBy(new RateLimiterCluster(terms))
    },
  },
  'rate-limiter-flexible RateLimiterSQLite.consume': {
    make: async ({ path }) => {
      const database = open(path)
      const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')]
      // It uses these methods of better-sqlite3; they are Node's here.
      const storeClient = {
        prepare: (sql: string) => database.prepare(sql),
        transaction: (act: () => unknown) => () => {
          begin.run()
          const result = act()
          commit.run()
          return result
        },
      }
      const client = { storeClient, storeType: 'better-sqlite3' } as const
      return withTable((terms, ready) => new RateLimiterSQLite({ ...client, ...terms }, ready))
    },
  },
  '@express-rate-limit/cluster-memory-store increment': {
    primary: () => new ClusterMemoryStorePrimary().init(),
    make: () => {
      const store = new ClusterMemoryStoreWorker()
      store.init({ windowMs: WINDOW_MS } as Options)
      return async (key) => (await store.increment(key)).totalHits
    },
  },

  'floor: a synchronous transaction that counts': {
    make: ({ path }) => {
      const database = open(path)
      database.exec(
        'CREATE TABLE IF NOT EXISTS floor (key TEXT PRIMARY KEY, hits INT) WITHOUT ROWID',
      )
      const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')]
      const get = database.prepare('SELECT hits FROM floor WHERE key = ?')
      const put = database.prepare('REPLACE INTO floor VALUES (?, ?)')
      return async (key) => {
        begin.run()
        const hits = ((get.get(key) as { hits: number } | undefined)?.hits ?? 0) + 1
        put.run(key, hits)
        commit.run()
        return hits
      }
    },
  },
  'floor: a message to a thread and back': {
    make: () => {
      const thread = new Worker(ECHO, { eval: true })
      const waiting: (() => void)[] = []
      thread.on('message', () => waiting.shift()?.())
      return (key) =>
        new Promise((resolve) => {
          waiting.push(() => resolve(1))
          thread.postMessage(key)
        })
    },
  },
}
