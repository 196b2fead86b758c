import { ContendedKeys, type Decide, type KeyRange, type ListedKey } from '@sluice/transactional'
import { type MysqlConnection, read, write } from './pool.ts'
import { isConflict } from './setup-error.ts'
import * as sql from './statements.ts'

/** What a store does on a connection. */
export class Transactions {
  readonly #clock: (() => number) | undefined
  readonly #contended = new ContendedKeys()

  /** @param clock the injected clock */
  constructor(clock: (() => number) | undefined) {
    this.#clock = clock
  }

  /** See `TransactionalBackend.transact`. */
  async transact<T>(
    connection: MysqlConnection,
    keys: readonly string[],
    decide: Decide<T>,
    ms: number,
  ): Promise<T> {
    const [key] = keys as [string]
    if (keys.length === 1 && !this.#contended.has(key)) {
      const done = await this.#swap(connection, key, decide, ms)
      if (done !== undefined) return done.value
    }
    return this.#lock(connection, keys, decide, ms)
  }

  /** Reads a key, and writes it if nobody has changed it meanwhile. Undefined: nothing was written. */
  async #swap<T>(
    connection: MysqlConnection,
    key: string,
    decide: Decide<T>,
    ms: number,
  ): Promise<{ readonly value: T } | undefined> {
    const [row = []] = await read(connection, sql.look(key))
    const [time, autocommit, state] = row
    // Otherwise what was read may be old, and what is written waits for a COMMIT.
    if (String(autocommit) !== '1') return undefined
    const now = this.#clock?.() ?? Number(time)
    const { changes, value } = decide([state ?? undefined], now)
    const [change] = changes
    if (change === undefined) return { value }
    if (!state) return undefined
    const changed = await write(connection, sql.swap(change, state, now, ms)).catch(noneIfConflict)
    if (changed > 0) return { value }
    this.#contended.add(key)
    return undefined
  }

  /** Decides while it has the locks of the keys. What others have undone is tried again. */
  async #lock<T>(
    connection: MysqlConnection,
    keys: readonly string[],
    decide: Decide<T>,
    ms: number,
  ): Promise<T> {
    const until = performance.now() + ms
    await write(connection, sql.patience(ms))
    for (;;) {
      try {
        const value = await this.#attempt(connection, keys, decide)
        await write(connection, sql.RESTORE)
        return value
      } catch (error) {
        if (!isConflict(error) || performance.now() > until) throw error
        await write(connection, 'ROLLBACK')
      }
    }
  }

  async #attempt<T>(
    connection: MysqlConnection,
    keys: readonly string[],
    decide: Decide<T>,
  ): Promise<T> {
    await write(connection, 'START TRANSACTION')
    await write(connection, sql.lock(keys))
    const rows = await read(connection, sql.locked(keys))
    if (rows.length !== keys.length) throw new Error(`${rows.length} of ${keys.length} rows read`)
    const states = new Map(rows.map(([id, state]) => [String(id), state ?? undefined]))
    const now = this.#clock?.() ?? Number(rows[0]?.[2])
    const { changes, value } = decide(
      keys.map((key) => states.get(key)),
      now,
    )
    const writes = changes.length === 0 ? ['ROLLBACK'] : sql.writes(changes, now)
    for (const each of writes) await write(connection, each)
    return value
  }

  /** See `ListingBackend.list`. */
  list(connection: MysqlConnection, range: KeyRange) {
    const now = this.#clock?.()
    return inTransaction(connection, async () => {
      const [[time] = []] = await read(connection, sql.TIME)
      const rows = await read(connection, sql.list(range, now ?? Number(time)))
      const keys = rows.map(([id, state]): ListedKey => {
        return { key: String(id), state: state ?? undefined }
      })
      return { keys, now: now ?? Number(time) }
    })
  }

  /** Deletes so many expired rows at most. @returns how many */
  sweep(connection: MysqlConnection, count: number): Promise<number> {
    const now = this.#clock?.()
    return inTransaction(connection, async () => {
      const rows = await read(connection, sql.expired(count, now))
      const ids = rows.flatMap(([id]) => id ?? [])
      return ids.length === 0 ? 0 : write(connection, sql.sweep(ids, now))
    })
  }
}

/** Begins a transaction, so that what is read is no older, also where statements are not transactions. */
async function inTransaction<T>(connection: MysqlConnection, work: () => Promise<T>): Promise<T> {
  await write(connection, 'START TRANSACTION')
  const done = await work()
  await write(connection, 'COMMIT')
  return done
}

function noneIfConflict(error: unknown): number {
  if (isConflict(error)) return 0
  throw error
}
