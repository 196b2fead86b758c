import type { RedisClient } from '@sluice/core'
import { redisStore } from '@sluice/core/operator'
import { UsageError } from '@sluice/terminal/usage-error'
import { listed } from '@sluice/terminal/words'
import { loadModule } from '../load-module.ts'
import type { Connection } from './connection.ts'
import { healthOf } from './health.ts'
import { optionsOfUrl } from './redis-url.ts'
import { isMysqlPool, isMysqlUrl, isPostgresPool, isPostgresUrl } from './store-kind.ts'

/** Where the store is: one of `redis`, `postgres`, `mysql`, `sqlite` and `client`. */
export interface ConnectFlags {
  /** URL. */
  readonly redis?: string | undefined
  /** URL. */
  readonly postgres?: string | undefined
  /** URL. */
  readonly mysql?: string | undefined
  /** Path of a file. */
  readonly sqlite?: string | undefined
  /** A file that exports a client. */
  readonly client?: string | undefined
  /** PostgreSQL: of the table. */
  readonly schema?: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * @param env names the store if no flag does
 * @throws UsageError, or what the client says if it can't connect
 */
export async function connect(
  flags: ConnectFlags,
  env: Environment = process.env,
): Promise<Connection> {
  const { redis, postgres, mysql, sqlite, client: file } = placeOf(flags, env)
  const { schema } = flags
  const client = file === undefined ? undefined : await clientIn(file)
  const ofPostgres = client !== undefined && isPostgresPool(client) ? client : postgres
  if (ofPostgres !== undefined) {
    const { postgresConnection } = await import('./postgres-connection.ts')
    return postgresConnection(ofPostgres, schema)
  }
  if (schema !== undefined) throw new UsageError('--schema is for PostgreSQL, this store is not')
  const ofMysql = client !== undefined && isMysqlPool(client) ? client : mysql
  if (ofMysql !== undefined) {
    const { mysqlConnection } = await import('./mysql-connection.ts')
    return mysqlConnection(ofMysql)
  }
  if (sqlite !== undefined) {
    const { sqliteConnection } = await import('./sqlite-connection.ts')
    return sqliteConnection(sqlite)
  }
  if (client !== undefined) return redisConnection(client)
  const { connectToRedis } = await import('./redis-connection.ts')
  return redisConnection(await connectToRedis(optionsOfUrl(redis as string)))
}

/** The one flag that says where the store is, else the one variable. @throws UsageError */
function placeOf(given: ConnectFlags, env: Environment): ConnectFlags {
  const { redis, postgres, mysql, sqlite, client } = given
  // One that is empty names no other store: its value may have been meant to come from a variable.
  const all = Object.entries({ redis, postgres, mysql, sqlite, client })
  const flags = all.filter(([, given]) => given !== undefined)
  if (flags.length === 1) return Object.fromEntries(flags)
  if (flags.length > 1) {
    const names = flags.map(([name]) => `--${name}`)
    throw new UsageError(`${listed(names)} exclude each other: name one store`)
  }
  const { REDIS_URL, DATABASE_URL = '' } = env
  // Applications have it for databases of other kinds, too.
  const database = databaseOf(DATABASE_URL)
  if (REDIS_URL && database) {
    throw new UsageError(
      `REDIS_URL and DATABASE_URL are both set: name the store with --redis or --${database}, or leave one of them empty`,
    )
  }
  if (REDIS_URL) return { redis: REDIS_URL }
  if (database) return { [database]: DATABASE_URL }
  throw new UsageError(
    'say where the store is: --redis redis://host:6379, --postgres postgres://host/database, --mysql mysql://host/database, --sqlite file, --client file, or REDIS_URL or DATABASE_URL',
  )
}

function databaseOf(url: string): 'postgres' | 'mysql' | undefined {
  if (isPostgresUrl(url)) return 'postgres'
  return isMysqlUrl(url) ? 'mysql' : undefined
}

/** The methods of node-redis and valkey-glide besides those of the store. */
interface Owned {
  readonly isOpen?: boolean
  listenerCount?(event: string): number
  on?(event: 'error', listener: () => void): unknown
  connect?(): Promise<unknown>
  disconnect?(): unknown
  destroy?(): unknown
  close?(): unknown
}

/** @throws UsageError, or SluiceError if it is no client */
async function clientIn(file: string): Promise<RedisClient> {
  const loaded = await loadModule('--client', file)
  const client: unknown = await (typeof loaded === 'function' ? loaded() : loaded)
  if (typeof client !== 'object' || client === null) {
    throw new UsageError(
      `--client: expected a client of Redis, or a pool of pg or mysql2, as the default export of ${file}`,
    )
  }
  const { isOpen, listenerCount } = client as Owned
  // The command's own: a connection that breaks shows in what it reads.
  if (listenerCount?.call(client, 'error') === 0) (client as Owned).on?.('error', () => {})
  if (isOpen === false) await (client as Owned).connect?.()
  return client as RedisClient
}

function redisConnection(client: RedisClient): Connection {
  const store = redisStore(client)
  const owned = client as Owned
  return {
    store,
    health: () => healthOf(client),
    close() {
      const end = owned.destroy ?? owned.disconnect ?? owned.close
      void end?.call(owned)
    },
  }
}
