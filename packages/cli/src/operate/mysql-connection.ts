import { mysqlStore } from '@sluice/mysql'
import { UsageError } from '@sluice/terminal/usage-error'
import type { Pool } from 'mysql2/promise'
import { type Connection, TIMEOUT_MS } from './connection.ts'
import { poolConnection, tryPool } from './driver-pool.ts'
import { loadDriver } from './load-driver.ts'
import { isMysqlUrl } from './store-kind.ts'

/** Enough for one command. */
const CONNECTIONS = 2
const HEALTH = 'SELECT VERSION(), @@global.read_only'
const CLIENTS = "SHOW GLOBAL STATUS LIKE 'Threads_connected'"

/**
 * @param given a URL, or a pool of the user's
 * @throws UsageError, which never quotes the URL, or what the server or the network says
 */
export async function mysqlConnection(given: string | Pool): Promise<Connection> {
  const pool = typeof given === 'string' ? await poolOf(given) : given
  return poolConnection(mysqlStore(pool), pool, async () => {
    const [version, readOnly] = await rowOf(pool, HEALTH)
    const [, clients] = await rowOf(pool, CLIENTS)
    return {
      version: String(version).includes('MariaDB') ? String(version) : `MySQL ${version}`,
      role: /^(0|OFF)$/.test(String(readOnly)) ? 'primary' : 'replica',
      connectedClients: Number(clients),
    }
  })
}

function poolOf(url: string): Promise<Pool> {
  if (!isMysqlUrl(url)) {
    throw new UsageError('--mysql: expected mysql://user:password@host:3306/database')
  }
  const { createPool } = loadDriver('--mysql', 'mysql2/promise')
  const limits = { connectTimeout: TIMEOUT_MS, connectionLimit: CONNECTIONS }
  return tryPool('MySQL', createPool({ uri: url, ...limits }))
}

async function rowOf(pool: Pool, sql: string): Promise<readonly unknown[]> {
  const [[row]] = (await pool.query({ sql, rowsAsArray: true })) as unknown as [[unknown[]]]
  return row
}
