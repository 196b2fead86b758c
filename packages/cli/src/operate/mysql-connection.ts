import { mysqlStore } from '@sluice/mysql'
import { UsageError } from '@sluice/terminal/usage-error'
import type { Pool } from 'mysql2/promise'
import { type Connection, TIMEOUT_MS } from './connection.ts'
import type { Health } from './health.ts'
import { loadDriver, tryPool } from './load-driver.ts'
import { isMysqlUrl } from './store-kind.ts'

/** Enough for one command. */
const CONNECTIONS = 2
const HEALTH = 'SELECT VERSION(), @@global.read_only'
const CLIENTS = "SHOW GLOBAL STATUS LIKE 'Threads_connected'"

/**
 * A pool that has connected once.
 *
 * @throws UsageError, which never quotes the URL, or what the server or the network says
 */
export async function connectToMysql(url: string): Promise<Pool> {
  if (!isMysqlUrl(url)) {
    throw new UsageError('--mysql: expected mysql://user:password@host:3306/database')
  }
  const { createPool } = loadDriver('--mysql', 'mysql2/promise')
  const limits = { connectTimeout: TIMEOUT_MS, connectionLimit: CONNECTIONS }
  return tryPool('MySQL', createPool({ uri: url, ...limits }))
}

export function mysqlConnection(pool: Pool): Connection {
  const store = mysqlStore(pool)
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
  const [version, readOnly] = await rowOf(pool, HEALTH)
  const latencyMs = performance.now() - began
  const [, clients] = await rowOf(pool, CLIENTS)
  return {
    latencyMs,
    version: String(version).includes('MariaDB') ? String(version) : `MySQL ${version}`,
    role: /^(0|OFF)$/.test(String(readOnly)) ? 'primary' : 'replica',
    connectedClients: Number(clients),
  }
}

async function rowOf(pool: Pool, sql: string): Promise<readonly unknown[]> {
  const [[row]] = (await pool.query({ sql, rowsAsArray: true })) as unknown as [[unknown[]]]
  return row
}
