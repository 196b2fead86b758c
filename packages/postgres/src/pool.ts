import { SluiceError } from '@sluice/core'
import type { ConnectionPool } from '@sluice/transactional'

/** The methods of a `Pool` of pg 8 that the store needs. */
export interface PostgresPool {
  connect(callback: (error: Error | undefined, client?: PostgresClient) => void): void
  on(event: 'error', listener: (error: Error) => void): unknown
  readonly totalCount: number
}

/** A parameter of a statement. */
export type PostgresValue = string | number | null | (string | number | null)[]

/** A statement, or several without parameters. */
export interface Query {
  text: string
  rowMode: 'array'
  name?: string | undefined
  values?: PostgresValue[]
}

/** What the store sends statements on. */
export interface Connection {
  /** @returns a {@link Result}, or an array of them if there are several statements */
  query(query: Query): Promise<unknown>
}

/** The methods of a client of the pool that the store needs. */
export interface PostgresClient extends Connection {
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  release(destroy?: Error | boolean): void
}

/** The result of one statement. All columns are text, which no type parser of the user changes. */
export interface Result {
  readonly rows: readonly (readonly (string | null)[])[]
}

/** @throws SluiceError if it is not a pool: a single client can't have several transactions */
export function checkPool(pool: PostgresPool): PostgresPool {
  if (typeof pool?.connect === 'function' && typeof pool.totalCount === 'number') return pool
  throw new SluiceError({
    code: 'SLUICE_STORE_UNKNOWN',
    option: 'pool',
    expected: 'a Pool of pg, or a client of postgres.js',
    received: pool,
    fix: 'Give it new Pool({ connectionString }) or postgres(connectionString).',
  })
}

/** Pools whose 'error' events, of connections that break while idle, do not end the process. */
const guarded = new WeakSet<PostgresPool>()

/** The pool as core borrows from it. No 'error' event ends the process. */
export function guardedPool(pool: PostgresPool): ConnectionPool<PostgresClient> {
  if (!guarded.has(pool)) pool.on('error', ignore)
  guarded.add(pool)
  return {
    // A promise would leave a moment in which nobody listens to the client.
    connect: () =>
      new Promise((resolve, reject) => {
        pool.connect((error, client) => {
          client?.on('error', ignore)
          if (client === undefined) reject(error)
          else resolve(client)
        })
      }),
    release: (client, isBroken) => {
      client.release(isBroken)
      if (!isBroken) client.removeListener('error', ignore)
    },
  }
}

/** Sends several statements in one round trip. */
export async function send(client: Connection, statements: readonly string[]) {
  const results = await client.query({ text: statements.join(';'), rowMode: 'array' })
  return results as readonly Result[]
}

function ignore(): void {}
