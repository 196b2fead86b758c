import {
  Borrower,
  type InspectableStore,
  joinTransactions,
  type MysqlStoreOptions,
  readStoreOptions,
  Sweeper,
  type TransactionalBackend,
  transactionalStore,
} from '@sluice/transactional'
import { borrowed, checkPool, type MysqlConnection, type MysqlPool, read, write } from './pool.ts'
import { checkVersion, isMissingTable, throwSetupError } from './setup-error.ts'
import { CREATE, FIND } from './statements.ts'
import { Transactions } from './transactions.ts'

/** The longest that anything may take if no limiter says how long it waits, ms. */
const LONGEST_MS = 60_000
/** The longest that a sweep may take, or reading some keys for `inspect`, ms. */
const BRIEF_MS = 2000

/** A store in MySQL or MariaDB. */
export interface MysqlStore extends InspectableStore<'async'> {
  /**
   * Creates the table, if it does not exist. For a deployment: a store never does it by itself. If it
   * exists, the user need not be permitted to create it.
   *
   * @throws SluiceError if the user is not permitted to, or the server is too old
   */
  migrate(): Promise<void>
}

/**
 * Keeps states in MySQL 8.0 or MariaDB 10.6 or later, shared by every process. The requests of a turn of the event
 * loop share a transaction. It borrows up to four connections at the same time of a pool that stays the caller's to
 * close.
 *
 * @throws SluiceError if it is no pool, or an option is wrong
 */
export function mysqlStore(pool: MysqlPool, options: MysqlStoreOptions = {}): MysqlStore {
  const connections = new Borrower(borrowed(checkPool(pool)))
  const { clock } = readStoreOptions('mysqlStore', options)
  const transactions = new Transactions(clock)
  const use = <T>(ms: number, work: (connection: MysqlConnection) => Promise<T>) =>
    connections.use(ms, work).catch(throwSetupError)
  const sweeper = new Sweeper((count) => use(BRIEF_MS, (on) => transactions.sweep(on, count)))

  const transact: TransactionalBackend['transact'] = async (keys, decide, ms = LONGEST_MS) => {
    const value = await use(ms, (on) => transactions.transact(on, keys, decide, ms))
    sweeper.wake()
    return value
  }
  const store = transactionalStore({
    transact: joinTransactions(transact),
    list: (range) => use(BRIEF_MS, (on) => transactions.list(on, range)),
    clock,
    close: () => sweeper.close(),
  })
  return { ...store, migrate: () => use(LONGEST_MS, migrate) }
}

async function migrate(connection: MysqlConnection): Promise<void> {
  const [[version] = []] = await read(connection, 'SELECT VERSION()')
  checkVersion(String(version))
  try {
    await read(connection, FIND)
  } catch (error) {
    if (!isMissingTable(error)) throw error
    await write(connection, CREATE)
  }
}
