import type { ProxyTrust, RequestAdapter } from '@sluice/core'
import type { Request, Response } from 'express'

/** Where Express keeps the facts of a request. */
export const expressAdapter: RequestAdapter<Request, Response> = {
  incoming: (request) => request,
  outgoing: (response) => response,
  address: (request) => request.ip,
  proxyTrust: (request) => trustOf(request.app.get('trust proxy')),
  user: (request) => (request as { user?: unknown }).user,
  path: (request) => request.path,
  routing: ({ app }) => ({
    caseSensitive: app.enabled('case sensitive routing'),
    strict: app.enabled('strict routing'),
  }),
}

/** What the setting 'trust proxy' means. */
function trustOf(setting: unknown): ProxyTrust {
  if (setting === true) return 'everybody'
  if (typeof setting === 'number') return setting > 0 ? 'hops' : 'nobody'
  return setting === undefined || setting === false ? 'nobody' : 'named'
}
