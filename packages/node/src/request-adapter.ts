import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeExchange, type RequestAdapter } from '@sluice/core/adapter'

/** Reads the requests and the responses of Node's servers. */
export const nodeAdapter: RequestAdapter<IncomingMessage, ServerResponse> = {
  ...nodeExchange<IncomingMessage, ServerResponse>(
    (request) => request,
    (response) => response,
  ),
  address: ({ socket }) => socket.remoteAddress,
  proxyTrust: () => 'nobody',
  user: (request) => (request as { user?: unknown }).user,
  path: ({ url }) => pathOf(url as string),
  decided(request, decision) {
    request.rateLimit = decision
  },
}

/** Without the query. A client may write a whole URL instead of a path (RFC 9112 §3.2.2). */
function pathOf(target: string): string {
  const isUrl = !target.startsWith('/') && URL.canParse(target)
  const written = isUrl ? target.replace(/^[^:]*:\/\/[^/?]*/, '') : target
  return (written.split('?', 1)[0] as string) || '/'
}
