import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeExchange, type RequestAdapter } from '@sluice/core/adapter'

/** Reads the requests and the responses of Node's servers. */
export const nodeAdapter: RequestAdapter<IncomingMessage, ServerResponse> = {
  ...nodeExchange<IncomingMessage, ServerResponse>(
    (request) => request,
    (response) => response,
  ),
  address: ({ socket }) => socket?.remoteAddress,
  proxyTrust: () => 'nobody',
  user: (request) => (request as { user?: unknown }).user,
  path: ({ url = '' }) => url.split('?', 1)[0] as string,
  routing: () => ({ caseSensitive: true, strict: true }),
  decided(request, decision) {
    request.rateLimit = decision
  },
}
