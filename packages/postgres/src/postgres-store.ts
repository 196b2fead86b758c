import {
  Borrower,
  type PostgresStoreOptions,
  readStoreOptions,
  type Store,
  Sweeper,
  shareTransactions,
  type TransactionalBackend,
  transactionalStore,
} from '@sluice/core/store'
import { checkPool, guardedPool, type PostgresPool, send } from './pool.ts'
import { toSetupError } from './setup-error.ts'
import { Statements, SWEPT_AT_ONCE } from './statements.ts'

/** The longest that anything may take if no limiter says how long it waits, ms. */
const LONGEST_MS = 60_000
/** The longest that a sweep may take, ms. */
const SWEEP_MS = 2000

/** A store in PostgreSQL. */
export interface PostgresStore extends Store<'async'> {
  /**
   * Creates the table, if it does not exist. For a deployment: a store never does it by itself.
   *
   * @throws SluiceError if the user is not permitted to
   */
  migrate(): Promise<void>
}

/**
 * Keeps states in PostgreSQL 14 or later, shared by every process. The requests of a turn of the
 * event loop share a transaction of two round trips. It borrows up to four connections at the same
 * time of a pool that stays the caller's to close. If that has no listener for 'error', a
 * connection that breaks does not end the process any more.
 *
 * @throws SluiceError if it is no pool, or an option is wrong
 */
export function postgresStore(
  pool: PostgresPool,
  options: PostgresStoreOptions = {},
): PostgresStore {
  const connections = new Borrower(guardedPool(checkPool(pool)))
  const { schema, logged, clock } = readStoreOptions('postgresStore', options)
  const statements = new Statements(schema, logged)
  const sweeper = new Sweeper(async () => {
    const sweep = statements.sweep(clock?.(), SWEEP_MS)
    const results = await connections.use(SWEEP_MS, (client) => send(client, sweep))
    return results.at(-2)?.rowCount === SWEPT_AT_ONCE
  })
  const fail = (error: unknown) => {
    throw toSetupError(error, statements.create)
  }

  const transact: TransactionalBackend['transact'] = (keys, decide, withinMs = LONGEST_MS) => {
    const limitMs = Math.min(withinMs, LONGEST_MS)
    const work = connections.use(limitMs, async (client) => {
      const read = await send(client, statements.lock(keys, limitMs))
      const [rows, time] = read.slice(-2).map((result) => result.rows)
      const states = new Map(rows?.map(([key, hex]) => [key, bytesOf(hex)]))
      const now = clock?.() ?? Number(time?.[0]?.[0])
      const { changes, value } = decide(
        keys.map((key) => states.get(key)),
        now,
      )
      const changed = new Set(changes.map(({ key }) => key))
      const unused = keys.filter((key) => states.get(key) === undefined && !changed.has(key))
      await send(client, statements.write(changes, unused, now))
      if (changes.length > 0) sweeper.wake()
      return value
    })
    return work.catch(fail)
  }

  const store = transactionalStore({
    transact: shareTransactions(transact),
    clock,
    close: () => sweeper.close(),
  })
  const migrate = async () => {
    await connections.use(LONGEST_MS, (client) => send(client, statements.migrate())).catch(fail)
  }
  return { ...store, migrate }
}

function bytesOf(hex: string | null | undefined): Uint8Array | undefined {
  return hex ? Buffer.from(hex, 'hex') : undefined
}
