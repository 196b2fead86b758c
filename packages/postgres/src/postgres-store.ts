import {
  Borrower,
  type Decide,
  type InspectableStore,
  joinTransactions,
  type ListingBackend,
  type PostgresStoreOptions,
  readStoreOptions,
  Sweeper,
  type TransactionalBackend,
  transactionalStore,
} from '@sluice/transactional'
import { bytesOf, LoneTransactions } from './lone-transactions.ts'
import { type Connection, checkPool, guardedPool, type PostgresPool, send } from './pool.ts'
import { isPostgresJs, type PostgresJsClient, postgresJsPool } from './postgres-js.ts'
import { roundTripsOf } from './round-trips.ts'
import { throwMigrationError, throwSetupError } from './setup-error.ts'
import { Statements } from './statements.ts'

/** The longest that anything may take if no limiter says how long it waits, ms. */
const LONGEST_MS = 60_000
/** The longest that a sweep may take, or reading some keys for `inspect`, ms. */
const BRIEF_MS = 2000

/** A store in PostgreSQL. */
export interface PostgresStore extends InspectableStore<'async'> {
  /**
   * Creates the table, if it does not exist. For a deployment: a store never does it by itself. If it
   * exists, the user need not be permitted to create it.
   *
   * @throws SluiceError if the user is not permitted to
   */
  migrate(): Promise<void>
}

/**
 * Keeps states in PostgreSQL 14 or later, shared by every process. A request of one key takes one round
 * trip; the requests of a turn of the event loop share a transaction of two. It borrows up to four connections at the same
 * time of a pool that stays the caller's to close. If that has no listener for 'error', a
 * connection that breaks does not end the process any more.
 *
 * @param pool a `Pool` of pg, or a client of postgres.js
 * @throws SluiceError if it is no pool, or an option is wrong
 */
export function postgresStore(
  pool: PostgresPool | PostgresJsClient,
  options: PostgresStoreOptions = {},
): PostgresStore {
  const canLock = !isPostgresJs(pool)
  const connections = new Borrower<Connection>(
    canLock ? guardedPool(checkPool(pool)) : postgresJsPool(pool),
  )
  const { schema, logged, clock } = readStoreOptions('postgresStore', options)
  const statements = new Statements(schema, logged)
  const fail = (error: unknown) => throwSetupError(error, statements.create)
  const run = (texts: readonly string[], ms: number) =>
    connections.use(ms, (client) => send(client, texts)).catch(fail)
  const sweeper = new Sweeper(async (count) => {
    const results = await run(statements.sweep(count, clock?.(), BRIEF_MS), BRIEF_MS)
    return Number(results.at(-1)?.rows[0]?.[0])
  })

  const on = roundTripsOf(statements)
  const lone = new LoneTransactions(
    (ms, work) => connections.use(ms, (client) => work(on(client))),
    clock,
  )

  const lock: TransactionalBackend['transact'] = (keys, decide, ms = LONGEST_MS) =>
    connections.use(ms, async (client) => {
      const read = await send(client, statements.lock(keys, ms))
      const rows = read.at(-1)?.rows ?? []
      const states = new Map(rows.map(([key, hex]) => [key, bytesOf(hex)]))
      const places = new Map(rows.map(([key, , , place]) => [key as string, place as string]))
      const now = clock?.() ?? Number(rows[0]?.[2])
      const { changes, value } = decide(
        keys.map((key) => states.get(key)),
        now,
      )
      const changed = new Set(changes.map(({ key }) => key))
      const unused = keys.filter((key) => states.get(key) === undefined && !changed.has(key))
      await send(client, statements.write(changes, unused, places, now))
      lone.learn(changes, now)
      return value
    })

  const transact: TransactionalBackend['transact'] = async <T>(
    keys: readonly string[],
    decide: Decide<T>,
    ms = LONGEST_MS,
  ) => {
    try {
      const done = await lone.transact(keys, decide, ms)
      const again = () => (canLock ? lock(keys, decide, ms) : lone.swap(keys, decide, ms))
      const value = done === undefined ? await again() : done.value
      sweeper.wake()
      return value
    } catch (error) {
      return fail(error)
    }
  }

  const list: ListingBackend['list'] = async (range) => {
    const now = clock?.()
    const results = await run(statements.list(range, now, BRIEF_MS), BRIEF_MS)
    const rows = results.at(-1)?.rows ?? []
    const keys = rows.map(([key, hex]) => ({ key: key as string, state: bytesOf(hex) }))
    return { keys, now: now ?? Number(results.at(-2)?.rows[0]?.[0]) }
  }

  const store = transactionalStore({
    transact: joinTransactions(transact),
    list,
    clock,
    close: () => sweeper.close(),
  })
  const migrate = async () => {
    const found = await run(statements.find(LONGEST_MS), LONGEST_MS)
    if (found.at(-1)?.rows[0]?.[0] === 'true') return
    await connections
      .use(LONGEST_MS, (client) => send(client, statements.migrate()))
      .catch((error) => throwMigrationError(error, statements.create))
  }
  return { ...store, migrate }
}
