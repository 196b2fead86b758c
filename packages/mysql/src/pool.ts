import { SluiceError } from '@sluice/core'
import type { ConnectionPool } from '@sluice/transactional'

/** The method of a pool of mysql2/promise that the store needs. */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>
}

/** The methods of a connection of the pool that the store needs. */
export interface MysqlConnection {
  query(options: {
    sql: string
    rowsAsArray: boolean
    nestTables: boolean
    typeCast: typeof bytesOf
  }): Promise<unknown>
  release(): void
  destroy(): void
}

/** A row that was read: every column is its bytes, whatever the user's settings say about types. */
export type Row = readonly (Buffer | null)[]

/** @throws SluiceError if it is no pool of promises: a single connection can't have several transactions */
export function checkPool(pool: MysqlPool): MysqlPool {
  // Of callbacks, a pool has this method too; it has promise() to become one of promises.
  const { getConnection, promise } = Object(pool) as { getConnection?: unknown; promise?: unknown }
  if (typeof getConnection === 'function' && promise === undefined) return pool
  throw new SluiceError({
    code: 'SLUICE_STORE_UNKNOWN',
    option: 'pool',
    expected: 'a pool of mysql2/promise',
    received: pool,
    fix: 'Give it createPool(url) of mysql2/promise, or pool.promise() of a pool of mysql2.',
  })
}

/** The pool as the base borrows from it. */
export function borrowed(pool: MysqlPool): ConnectionPool<MysqlConnection> {
  return {
    connect: () => pool.getConnection(),
    release: (connection, isBroken) => (isBroken ? connection.destroy() : connection.release()),
  }
}

/** Runs one statement. @returns the rows that it reads */
export async function read(connection: MysqlConnection, sql: string): Promise<readonly Row[]> {
  return (await send(connection, sql)) as readonly Row[]
}

/** Runs one statement. @returns how many rows it has changed */
export async function write(connection: MysqlConnection, sql: string): Promise<number> {
  return ((await send(connection, sql)) as { affectedRows: number }).affectedRows
}

async function send(connection: MysqlConnection, sql: string): Promise<unknown> {
  const settings = { rowsAsArray: true, nestTables: false, typeCast: bytesOf }
  const [result] = (await connection.query({ sql, ...settings })) as [unknown]
  return result
}

function bytesOf(field: { buffer(): Buffer | null }): Buffer | null {
  return field.buffer()
}
