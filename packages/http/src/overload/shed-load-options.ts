import type { TrustProxyOption } from '../keys/trust-proxy.ts'
import type { OverloadOptions } from './options.generated.ts'

/** The options of `shedLoad` in every adapter. */
export interface ShedLoadOptions<Request, Class extends string>
  extends OverloadOptions<Request, Class> {
  /**
   * The client whose requests take turns within a class, while they wait: the address, the user, or the result of
   * a function, which must not be async. Default: `'ip'`.
   */
  key?: 'ip' | 'user' | ((request: Request) => string | number | bigint | undefined) | undefined
  /** The id of the user, for `key: 'user'`. Default: `id` or `sub` of the framework's user. */
  user?: ((request: Request) => string | number | bigint | undefined) | undefined
  /** The proxies in front of the server. Default: the framework's own setting. */
  trustProxy?: TrustProxyOption | undefined
  /** Clients of IPv6 are told apart by so many bits, 32 to 128. Default: 56. */
  ipv6Prefix?: number | undefined
  /**
   * Requests for which it returns true always begin, and take no place: health checks, and responses that last for
   * hours. It must not be async. Default: none.
   */
  skip?: ((request: Request) => boolean) | undefined
  /** Identifies the load shedder in events and metrics. Default: none. */
  name?: string | undefined
}
