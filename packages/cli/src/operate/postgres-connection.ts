import { postgresStore } from '@sluice/postgres'
import { UsageError } from '@sluice/terminal/usage-error'
import type { Pool } from 'pg'
import { type Connection, TIMEOUT_MS } from './connection.ts'
import { poolConnection, tryPool } from './driver-pool.ts'
import { loadDriver } from './load-driver.ts'
import { isPostgresUrl } from './store-kind.ts'

/** Enough for one command. */
const CONNECTIONS = 2
const HEALTH =
  "SELECT current_setting('server_version'), pg_is_in_recovery(), (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend')"

/**
 * @param given a URL, or a pool of the user's
 * @param schema the schema of the table; undefined: the store's default
 * @throws UsageError, which never quotes the URL, or what the server or the network says
 */
export async function postgresConnection(
  given: string | Pool,
  schema: string | undefined,
): Promise<Connection> {
  const pool = typeof given === 'string' ? await poolOf(given) : given
  const store = postgresStore(pool, schema === undefined ? {} : { schema })
  return poolConnection(store, pool, async () => {
    const { rows } = await pool.query<unknown[]>({ text: HEALTH, rowMode: 'array' })
    const [version, isReplica, clients] = rows[0] as [string, boolean, number]
    return {
      version: `PostgreSQL ${version}`,
      role: isReplica ? 'replica' : 'primary',
      connectedClients: clients,
    }
  })
}

function poolOf(url: string): Promise<Pool> {
  if (!isPostgresUrl(url)) {
    throw new UsageError('--postgres: expected postgres://user:password@host:5432/database')
  }
  const { Pool } = loadDriver('--postgres', 'pg')
  const pool = new Pool({
    connectionString: url,
    connectionTimeoutMillis: TIMEOUT_MS,
    max: CONNECTIONS,
    application_name: 'sluice',
  })
  return tryPool('PostgreSQL', pool)
}
