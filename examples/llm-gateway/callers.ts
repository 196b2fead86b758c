import type { Request, RequestHandler } from 'express'

/** The caller. Budgets and limits count by these ids, not by the secret key. */
export interface Caller {
  readonly key: string
  readonly team: string
  readonly organisation: string
  readonly tier: 'free' | 'pro'
}

/** The API keys. A real gateway keeps their hashes in a database. */
const callers = new Map<string | undefined, Caller>([
  ['free-key', { key: 'ada', team: 'research', organisation: 'acme', tier: 'free' }],
  ['pro-key', { key: 'grace', team: 'product', organisation: 'acme', tier: 'pro' }],
])

export const authenticate: RequestHandler = (request, response, next) => {
  if (callers.has(request.get('x-api-key'))) next()
  else response.status(401).json({ error: 'send your key as x-api-key' })
}

/** The caller of an authenticated request. */
export function callerOf(request: Request): Caller {
  return callers.get(request.get('x-api-key')) as Caller
}
