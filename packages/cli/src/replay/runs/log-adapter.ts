import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestAdapter } from '@sluice/core'
import type { LogEntry } from '../../log/log-entry.ts'

/** Where a log keeps the facts of its requests. It has no responses, and no proxies to believe. */
export const logAdapter: RequestAdapter<LogEntry, never> = {
  incoming: (entry) => entry as unknown as IncomingMessage,
  outgoing: (response: ServerResponse) => response,
  address: (entry) => entry.ip,
  proxyTrust: () => 'named',
  user: (entry) => entry.user,
  path: (entry) => entry.path,
}
