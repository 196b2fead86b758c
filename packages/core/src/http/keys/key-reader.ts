import { warnOnce } from '../../errors/warning.ts'
import { addressKey } from '../../key/address.ts'
import { isIPv6Text, textKey, UNKNOWN, userKey } from '../../key/notation.ts'
import { type MaybePromise, then } from '../../maybe-promise.ts'
import type { OneOf } from '../../options/one-of.ts'
import type { RequestAdapter } from '../request-adapter.ts'

type KeyFunction<Request> = (request: Request) => MaybePromise<string | number | bigint | undefined>

/** What identifies a client: its address, its user, or what a function returns. */
export type KeyOption<Request> = OneOf<'ip' | 'user'> | KeyFunction<Request>

/** The option, checked. */
export type CheckedKey<Request> = 'ip' | 'user' | KeyFunction<Request>

/** The user's id, or undefined if nobody is signed in. */
export type UserOption<Request> = (
  request: Request,
) => MaybePromise<string | number | bigint | undefined>

/** A request, and the address of its client. */
export interface RequestAddress<Request> {
  readonly request: Request
  /** The address as text, unchecked; undefined if the client has none, as on a Unix socket. */
  readonly address: string | undefined
}

export type KeyReader<Request> = (from: RequestAddress<Request>) => MaybePromise<string>

/**
 * How the key of a request is read, in the notation of `notation.ts`. Without a user, or if a
 * function returns no key, the key is the address.
 */
export function keyReader<Request>(
  option: CheckedKey<Request>,
  user: UserOption<Request> | undefined,
  ipv6Prefix: number,
  adapter: RequestAdapter<Request, never>,
): KeyReader<Request> {
  const byAddress = ({ address }: RequestAddress<Request>) => {
    const key = addressKey(address, ipv6Prefix)
    if (key !== undefined) return key
    warnOnce(
      'SLUICE_ADDRESS_UNKNOWN',
      'A request came without a readable client address (a Unix socket, or a proxy that sends no ' +
        'address). All such requests share one quota. List your proxies in trustProxy; behind a ' +
        'Unix socket, set trustProxy: 1.',
    )
    return UNKNOWN
  }
  if (option === 'ip') return byAddress
  if (option === 'user') {
    const read = user ?? ((request: Request) => userId(adapter.user(request)))
    return (from) => then(read(from.request), (id) => (isId(id) ? userKey(id) : byAddress(from)))
  }
  return (from) =>
    then(option(from.request), (given: unknown) => {
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
    'The key function returned a single IPv6 address. A client with such an address has at least ' +
      `2^64 of them, so it can get a new limit for each request. Use key: 'ip', which limits the ` +
      `/${ipv6Prefix} network (option ipv6Prefix), or return addressKey(address), which this ` +
      'package exports.',
  )
}

/** What a key function returned, without its content: warnings end up in logs. */
function nameOf(given: unknown): string {
  if (given === '') return 'empty text'
  if (Array.isArray(given)) return 'an array'
  if (typeof given === 'object' && given !== null) return 'an object'
  return typeof given === 'function' ? 'a function' : String(given)
}

/** The `id` or `sub` of a user object. */
function userId(user: unknown): unknown {
  if (typeof user !== 'object' || user === null) return undefined
  const { id, sub } = user as { id?: unknown; sub?: unknown }
  return id ?? sub
}

function isId(value: unknown): value is string | number | bigint {
  return isText(value) || typeof value === 'bigint' || Number.isFinite(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
