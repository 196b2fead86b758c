import { messageOf } from '../../errors/thrown.ts'
import type { RedisClient } from './client.ts'

/** What clients say of their connection: ioredis and iovalkey by `status`, node-redis by `isReady`. */
interface Connected {
  readonly status?: unknown
  readonly isReady?: unknown
  readonly options?: {
    readonly host?: unknown
    readonly port?: unknown
    readonly path?: unknown
    readonly socket?: { readonly host?: unknown; readonly port?: unknown; readonly path?: unknown }
  }
  /** Where ioredis keeps why the connection could not be made, which it tells listeners alone. */
  readonly connector?: { readonly firstError?: unknown }
}

/**
 * Why a client does not answer: it queues commands while it has no connection. Undefined: it has one, or does not say.
 */
export function connectionTrouble(client: RedisClient): string | undefined {
  const { status, isReady, options = {}, connector } = client as Connected
  const isWaiting = typeof status === 'string' ? status !== 'ready' : isReady === false
  if (!isWaiting) return undefined
  const { host, port, path } = options.socket ?? options
  const address = path ?? (host === undefined ? undefined : `${host}:${port}`)
  const where = address === undefined ? '' : ` to ${address}`
  const state = typeof status === 'string' ? ` (${status})` : ''
  const why = connector?.firstError === undefined ? '' : `: ${messageOf(connector.firstError)}`
  return `not connected${where}${state}${why}`
}
