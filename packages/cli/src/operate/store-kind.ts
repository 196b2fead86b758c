import type { Pool } from 'pg'

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text)
}

/** Whether a client of the user's is a pool of pg. */
export function isPool(client: object): client is Pool {
  return 'totalCount' in client && 'connect' in client
}
