import type { Pool as MysqlPool } from 'mysql2/promise'
import type { Pool as PostgresPool } from 'pg'

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text)
}

export function isMysqlUrl(text: string): boolean {
  return /^(mysql|mariadb):\/\//.test(text)
}

/** Whether a client of the user's is a pool of pg. */
export function isPostgresPool(client: object): client is PostgresPool {
  return 'totalCount' in client && 'connect' in client
}

/** Whether a client of the user's is a pool of mysql2, of promises or callbacks. */
export function isMysqlPool(client: object): client is MysqlPool {
  return 'getConnection' in client
}
