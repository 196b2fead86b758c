import type { IncomingMessage, ServerResponse } from 'node:http'

/** What an adapter must supply: where its framework keeps the facts of a request. */
export interface RequestAdapter<Request, Response> {
  incoming(request: Request): IncomingMessage
  outgoing(response: Response): ServerResponse
  /** The client's address behind the framework's own proxy setting; as text, unchecked. */
  address(request: Request): string | undefined
  /** Whom that setting believes. */
  proxyTrust(request: Request): ProxyTrust
  /** The user by the framework's convention, if one is signed in: an object with `id` or `sub`. */
  user(request: Request): unknown
  /** What `routes` are matched with: the path, as the framework's own router sees it. */
  path(request: Request): string
  /** How that router compares paths. Left out: case and a trailing slash make no difference. */
  routing?(request: Request): Routing
}

/** How a router compares paths. */
export interface Routing {
  /** Whether upper and lower case differ. */
  readonly caseSensitive: boolean
  /** Whether a trailing slash makes another path. */
  readonly strict: boolean
}

/**
 * - `named`: proxies by address, or by a function
 * - `nobody`: X-Forwarded-For is not read
 * - `everybody`: its first entry is believed, which the client writes
 * - `hops`: so many entries from the right are believed, whoever sent them
 * - `ignored`: a setting that the framework does not heed any more
 */
export type ProxyTrust = 'named' | 'nobody' | 'everybody' | 'hops' | 'ignored'

/**
 * A CORS preflight (Fetch §3.2.2). It is never limited nor counted: refused, it would hide from the
 * script why.
 */
export function isPreflight(request: IncomingMessage): boolean {
  if (request.method !== 'OPTIONS') return false
  const { headers } = request
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}
