import { type MaybePromise, then } from '../maybe-promise.ts'
import type { Framework } from '../request.ts'
import { warnOnce } from '../warning.ts'
import { addressKey } from './address.ts'
import type { AddressReader } from './proxies.ts'

/** What sets clients apart: their address, their user, or what a function says. */
export type KeyOption<Request> =
  | 'ip'
  | 'user'
  | ((request: Request) => MaybePromise<string | undefined>)

/** The user's id, or undefined if nobody is signed in. */
export type UserOption<Request> = (request: Request) => MaybePromise<string | number | undefined>

export type KeyReader<Request> = (request: Request) => MaybePromise<string>

/** Every client without a readable address: together they have one quota, never none. */
const UNKNOWN = 'unknown'

/**
 * How the key of a request is read. Keys by user are `user:` and the id. Where there is no user,
 * or a function gives no text, the key is the address.
 */
export function keyReader<Request>(
  option: KeyOption<Request>,
  user: UserOption<Request> | undefined,
  ipv6Prefix: number,
  address: AddressReader<Request>,
  framework: Framework<Request, never>,
): KeyReader<Request> {
  const byAddress = (request: Request) => {
    const key = addressKey(address(request), ipv6Prefix)
    if (key !== undefined) return key
    warnOnce(
      'SLUICE_ADDRESS_UNKNOWN',
      'A request came without a readable client address (a Unix socket, or a proxy that sends no ' +
        'address). All such requests share one quota: name the proxies to believe in trustProxy; ' +
        'behind a Unix socket, trustProxy: 1.',
    )
    return UNKNOWN
  }
  if (option === 'ip') return byAddress
  if (option === 'user') {
    const read = user ?? ((request: Request) => userId(framework.user(request)))
    return (request) => then(read(request), (id) => (isId(id) ? `user:${id}` : byAddress(request)))
  }
  return (request) =>
    then(option(request), (key) => {
      if (isText(key)) return key
      warnOnce(
        'SLUICE_KEY_MISSING',
        `The key function gave ${String(key)} where it should give text of at least one ` +
          'character. Such requests are limited by their address: return a key for every request.',
      )
      return `address:${byAddress(request)}`
    })
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
