import { expressTrust, nodeExchange, type RequestAdapter } from '@sluice/http/adapter'
import type { Request, Response } from 'express'

/** Reads the request and the response of Express. */
export const expressAdapter: RequestAdapter<Request, Response> = {
  ...nodeExchange<Request, Response>(
    (request) => request,
    (response) => response,
  ),
  address: (request) => request.ip,
  proxyTrust(request) {
    const trust = expressTrust(request.app?.get('trust proxy'))
    // serverless-http sets the address itself, in front of Express's own getter.
    return trust !== 'nobody' && Object.hasOwn(request, 'ip') ? 'ignored' : trust
  },
  user: (request) => (request as { user?: unknown }).user,
  path: (request) => request.path,
  otherPath: ({ baseUrl, originalUrl, path, url }) =>
    baseUrl && originalUrl !== url ? baseUrl + path : undefined,
  route: (request) => request.route?.path,
  // A request that a test has made may have no application.
  routing: ({ app }) => ({
    caseSensitive: app?.enabled('case sensitive routing') ?? false,
    strict: app?.enabled('strict routing') ?? false,
  }),
  decided(request, decision) {
    request.rateLimit = decision
  },
}
