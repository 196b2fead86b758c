import { postgresStore } from '@sluice/postgres'
import { UsageError } from '@sluice/terminal/usage-error'
import type { Pool } from 'pg'
import { type Connection, TIMEOUT_MS } from './connection.ts'
import type { Health } from './health.ts'
import { loadDriver, tryPool } from './load-driver.ts'
import { isPostgresUrl } from './store-kind.ts'

/** Enough for one command. */
const CONNECTIONS = 2
const HEALTH =
  "SELECT current_setting('server_version'), pg_is_in_recovery(), (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend')"

/**
 * A pool that has connected once.
 *
 * @throws UsageError, which never quotes the URL, or what the server or the network says
 */
export async function connectToPostgres(url: string): Promise<Pool> {
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

/** @param schema the schema of the table; undefined: the store's default */
export function postgresConnection(pool: Pool, schema: string | undefined): Connection {
  const store = postgresStore(pool, schema === undefined ? {} : { schema })
  return {
    store,
    health: async () => [await healthOf(pool)],
    close() {
      store.close()
      void pool.end()
    },
  }
}

async function healthOf(pool: Pool): Promise<Health> {
  const began = performance.now()
  const { rows } = await pool.query<unknown[]>({ text: HEALTH, rowMode: 'array' })
  const latencyMs = performance.now() - began
  const [version, isReplica, clients] = rows[0] as [string, boolean, number]
  return {
    latencyMs,
    version: `PostgreSQL ${version}`,
    role: isReplica ? 'replica' : 'primary',
    connectedClients: clients,
  }
}
