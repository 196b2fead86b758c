import { nodeExchange, type RequestAdapter } from '@sluice/http/adapter'
import type { LogEntry } from '../../log/log-entry.ts'

/** A replay only decides requests. */
function noMessage(): never {
  throw new Error('A log has no connections and no responses.')
}

/** Reads requests from log entries. A log has no responses and no proxies to trust. */
export const logAdapter: RequestAdapter<LogEntry, never> = {
  ...nodeExchange<LogEntry, never>(noMessage, noMessage),
  method: (entry) => entry.method,
  header: (entry, name) => entry.get(name),
  peer: (entry) => entry.ip,
  isGone: () => false,
  identity: (entry) => entry,
  address: (entry) => entry.ip,
  proxyTrust: () => 'named',
  user: (entry) => entry.user,
  path: (entry) => entry.path,
}
