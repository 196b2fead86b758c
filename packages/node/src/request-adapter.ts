import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeExchange, type RequestAdapter } from '@sluice/http/adapter'

/** Reads the requests and the responses of Node's servers. */
export const nodeAdapter: RequestAdapter<IncomingMessage, ServerResponse> = {
  ...nodeExchange<IncomingMessage, ServerResponse>(
    (request) => request,
    (response) => response,
  ),
  address: ({ socket }) => socket?.remoteAddress,
  proxyTrust: () => 'nobody',
  user: (request) => (request as { user?: unknown }).user,
  path: ({ url = '' }) => pathOf(url),
  // Of connect and the like, which cut the path where they mount.
  otherPath: ({ originalUrl }: IncomingMessage & { originalUrl?: string }) =>
    originalUrl && pathOf(originalUrl),
  routing: () => ({ caseSensitive: true, strict: true }),
  decided(request, decision) {
    request.rateLimit = decision
  },
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] as string
}
