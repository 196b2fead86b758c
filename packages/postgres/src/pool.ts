import { SluiceError } from '@sluice/core'

/** What the store needs of a `Pool` of pg 8. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  on(event: 'error', listener: (error: Error) => void): unknown
  readonly totalCount: number
}

/** What it needs of a client of the pool. */
export interface PostgresClient {
  query(query: { text: string; rowMode: 'array' }): Promise<unknown>
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  release(destroy?: Error | boolean): void
}

/** The result of one statement. All columns are text, which no type parser of the user changes. */
export interface Result {
  readonly rows: readonly (readonly (string | null)[])[]
  readonly rowCount: number | null
}

/** @throws SluiceError if it is not a pool: a single client can't have several transactions */
export function checkPool(pool: PostgresPool): PostgresPool {
  const { connect, on, totalCount } = Object(pool) as Partial<PostgresPool>
  const isPool = [connect, on].every((each) => typeof each === 'function')
  if (isPool && typeof totalCount === 'number') return pool
  throw new SluiceError({
    code: 'SLUICE_STORE_UNKNOWN',
    option: 'pool',
    expected: 'a Pool of pg',
    received: pool,
    fix: 'Give it new Pool({ connectionString }).',
  })
}
