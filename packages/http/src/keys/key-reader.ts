import { addressKey, type MaybePromise } from '@sluice/core'
import { andThen, isIPv6Text, textKey, UNKNOWN, userKey, warnOnce } from '@sluice/core/internal'
import type { RequestAdapter } from '../request-adapter.ts'
import { forwardedAddressReader, type TrustProxyOption, warnOfProxySetting } from './trust-proxy.ts'

/** The option `key`: the address, the user, or a function of the request. */
export type KeyOption<Request> =
  | 'ip'
  | 'user'
  | ((request: Request) => MaybePromise<string | number | bigint | undefined>)

/** The user's id, or undefined if nobody is signed in. */
export type UserOption<Request> = (
  request: Request,
) => MaybePromise<string | number | bigint | undefined>

/** Requests are looked at for an unsafe proxy setting: so many at first, then one of so many. */
const LOOKED_AT_FIRST = 1000
const LOOKED_AT_LATER = 64

/**
 * How the client's address is read: by `trustProxy`, else by the framework's own setting. Of that it
 * warns when a request arrives that it affects, the first one or, later on, one of the next: Node
 * makes an object of all header fields when one is read.
 *
 * @throws SluiceError if `trustProxy` does not name proxies
 */
export function addressReader<Request>(
  trustProxy: TrustProxyOption | undefined,
  adapter: RequestAdapter<Request, never>,
): (request: Request) => string | undefined {
  if (trustProxy !== undefined) return forwardedAddressReader(trustProxy, adapter)
  let requests = 0
  return (request) => {
    requests += 1
    const looks = requests <= LOOKED_AT_FIRST || requests % LOOKED_AT_LATER === 0
    if (looks) warnOfProxySetting(request, adapter)
    return adapter.address(request)
  }
}

/**
 * Thrown where an address is asked for that is no longer known, because the client has disconnected.
 * Such a request must not be charged to the quota that clients without an address share.
 */
export const CLIENT_GONE = Symbol('sluice.client-gone')

/**
 * A request whose client's address is read once, however many policies and lists ask for it: a framework
 * may walk through thousands of entries of X-Forwarded-For each time. One is made for each request: `#private` fields
 * would cost it a call.
 */
export class AddressedRequest<Request> {
  readonly request: Request
  private readonly read: (request: Request) => string | undefined
  private readonly adapter: Pick<RequestAdapter<Request, never>, 'isGone'>
  private isKnown: boolean
  private known: string | undefined

  constructor(
    request: Request,
    read: (request: Request) => string | undefined,
    adapter: Pick<RequestAdapter<Request, never>, 'isGone'>,
  ) {
    this.request = request
    this.read = read
    this.adapter = adapter
    this.isKnown = false
    this.known = undefined
  }

  /**
   * The address as text, unchecked; undefined if the client has none, as on a Unix socket.
   * @throws CLIENT_GONE
   */
  get address(): string | undefined {
    if (!this.isKnown) {
      const address = this.read(this.request)
      if (!address && this.adapter.isGone(this.request)) throw CLIENT_GONE
      this.known = address
      this.isKnown = true
    }
    return this.known
  }
}

/**
 * How the key of a request is read, in the notation of `notation.ts`. Without a user, or if a
 * function returns no key, the key is the address.
 */
export function keyReader<Request>(
  option: KeyOption<Request>,
  user: UserOption<Request> | undefined,
  ipv6Prefix: number,
  adapter: RequestAdapter<Request, never>,
): (from: AddressedRequest<Request>) => MaybePromise<string> {
  const byAddress = ({ address }: AddressedRequest<Request>) => {
    const key = addressKey(address, ipv6Prefix)
    if (key !== undefined) return key
    warnOnce(
      'SLUICE_ADDRESS_UNKNOWN',
      'A request has no readable client address (a Unix socket, or a proxy that sends none). Such ' +
        'requests share one quota. Name your proxies in trustProxy; behind a Unix socket, set ' +
        'trustProxy: 1.',
    )
    return UNKNOWN
  }
  if (option === 'ip') return byAddress
  if (option === 'user') {
    const read = user ?? ((request: Request) => userId(adapter.user(request)))
    return (from) =>
      andThen(read(from.request), (given) => {
        const id = idFrom('user', given, 'Such requests are limited by their address.')
        return id === undefined ? byAddress(from) : userKey(id)
      })
  }
  return (from) =>
    andThen(option(from.request), (given: unknown) => {
      if (isId(given)) {
        if (typeof given === 'string' && isIPv6Text(given)) warnOfIPv6(ipv6Prefix)
        return textKey(given)
      }
      warnOnce(
        'SLUICE_KEY_MISSING',
        `The key function returned ${nameOf(given)} instead of text of at least one character. ` +
          'Such requests are limited by their address. Return a key for every request.',
      )
      return byAddress(from)
    })
}

function warnOfIPv6(ipv6Prefix: number): void {
  warnOnce(
    'SLUICE_KEY_IPV6',
    'The key function returned a single IPv6 address. Its client has at least 2^64 of them, so it ' +
      `can get a new limit for each request. Use key: 'ip', which limits the /${ipv6Prefix} network ` +
      '(option ipv6Prefix), or return addressKey(address), which this package exports.',
  )
}

/** Describes the result of a key function without its content: warnings end up in logs. */
function nameOf(given: unknown): string {
  if (given === '') return 'empty text'
  if (Array.isArray(given)) return 'an array'
  if (typeof given === 'object' && given !== null) return 'an object'
  return typeof given === 'function' ? 'a function' : String(given)
}

/** The `id` or `sub` of a user object, else the user: text and numbers are ids, the rest causes a warning. */
function userId(user: unknown): unknown {
  if (typeof user !== 'object' || user === null) return user
  // Null is nobody.
  const { id, sub = id === null ? null : user } = user as { id?: unknown; sub?: unknown }
  return id ?? sub
}

/**
 * The id that was given, if any. Warns of what is neither an id nor nothing, such as a whole user.
 *
 * @param of what has the id: `user`
 * @param otherwise what happens without an id, as a sentence
 */
export function idFrom(
  of: string,
  given: unknown,
  otherwise: string,
): string | number | bigint | undefined {
  if (isId(given)) return given
  if (given !== undefined && given !== null && given !== '' && given !== false) {
    const message = `The id of a ${of} was ${nameOf(given)} instead of text or a number. ${otherwise} Return text from the option ${of}.`
    warnOnce('SLUICE_KEY_MISSING', message, `SLUICE_KEY_MISSING ${of}`)
  }
  return undefined
}

function isId(value: unknown): value is string | number | bigint {
  if (typeof value === 'string') return value !== ''
  return typeof value === 'bigint' || Number.isFinite(value)
}
