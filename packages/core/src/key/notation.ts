import { addressKey, parseAddress } from './address.ts'
import { digest } from './digest.ts'
import { isIPv4 } from './ip.ts'

/**
 * The kind of a policy's keys. Every kind has addresses too: for requests without a user, or for
 * which the function returns nothing.
 */
export type KeyKind = 'ip' | 'user' | 'function'

/** Every client without a readable address: together they have one quota, never none. */
export const UNKNOWN = 'unknown'

const USER = 'user:'
const TEXT = 'key:'

// Keys are text in one notation, in which no kind can produce a key of another: an address is plain
// (`203.0.113.7`, `2001:db8:1:200::/56`, `unknown`), the others begin with what no address has.

export const userKey = (id: string | number | bigint): string => `${USER}${id}`

/** The key for the result of a key function. */
export const textKey = (text: string | number | bigint): string => `${TEXT}${text}`

/**
 * The key of a client whose keys are in one shard with others: `{acme}user:42`. What is no short text of plain
 * characters, or could be taken for a digest, becomes a digest: so no text of a client ends the braces.
 */
export function shardedKey(shard: string | number | bigint, key: string): string {
  const text = String(shard)
  const isPlain = /^[!"$&-z|~]{1,64}$/.test(text)
  return `{${isPlain ? text : `%${digest(text).slice(1)}`}}${key}`
}

/** How many characters of a key name its shard, with the braces: 6 of `{acme}user:42`. 0: none do. */
export function shardLength(key: string): number {
  if (key.charCodeAt(0) !== 0x7b) return 0
  const close = key.indexOf('}')
  return close > 1 ? close + 1 : 0
}

/** The part of a key by which a store that decides keys separately groups them: the shard, or the key. */
export function togetherBy(key: string): string {
  const length = shardLength(key)
  return length === 0 ? key : key.slice(0, length)
}

/** The kind of a key given as text: in the notation, or plain text of a key function. */
export function keyKindOf(given: string): KeyKind {
  const text = given.slice(shardLength(given))
  if (text.startsWith(USER)) return 'user'
  return text === UNKNOWN || parseAddress(withoutPrefix(text)) !== undefined ? 'ip' : 'function'
}

/**
 * The key that a text of the application means: an address in any form, `unknown`, `user:` and an
 * id, or the result of a key function, with or without `key:`; each also behind a shard.
 *
 * @param ipv6Prefix see {@link addressKey}
 */
export function readKey(text: string, ipv6Prefix: number): string {
  const length = shardLength(text)
  if (length > 0) return text.slice(0, length) + readKey(text.slice(length), ipv6Prefix)
  if (text === UNKNOWN || text.startsWith(USER) || text.startsWith(TEXT)) return text
  return addressKey(withoutPrefix(text), ipv6Prefix) ?? textKey(text)
}

/**
 * Whether a text is an IPv6 address as it is: one of the 2^64 or more that a client can choose
 * from. IPv4 in IPv6 notation is one client's only address.
 */
export function isIPv6Text(text: string): boolean {
  if (text.indexOf(':') === text.lastIndexOf(':')) return false
  const address = parseAddress(text)
  return address !== undefined && !isIPv4(address)
}

/** The key of an IPv6 network ends with the prefix of the policy that it was charged by. */
function withoutPrefix(text: string): string {
  const slash = text.includes(':') ? text.indexOf('/') : -1
  return slash > 0 && /^\/(3[2-9]|[4-9]\d|1[01]\d|12[0-8])$/.test(text.slice(slash))
    ? text.slice(0, slash)
    : text
}
