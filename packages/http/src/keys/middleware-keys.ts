import { SluiceError } from '@sluice/core'
import {
  type ClientKeys,
  checkKey,
  isAddressLike,
  isIPv4,
  type KeyKind,
  keyKindOf,
  parseCidr,
  readKey,
  type StoreLimiter,
  shardLength,
  textKey,
  warnOnce,
} from '@sluice/core/internal'

/** The parts of a middleware's limiter by which its keys are read. */
interface KeyedLimiter {
  readonly limiter: StoreLimiter
  readonly compiled: {
    readonly ipv6Prefix: number
    readonly keyKinds: readonly KeyKind[]
    readonly isSharded: boolean
  }
}

/**
 * How calls of the limiter of a middleware name clients. `block` and `reset` apply to every
 * policy of the middleware, including those of routes with their own limits, and to networks such as
 * `203.0.113.0/24`; all others apply to the policies of all other routes. Keys are read by kind: an address in any
 * form, `user:42`, or what a key function returns, as `key:abc` or plain, as the limiter of all requests without an
 * entry in `routes` does.
 *
 * @param all the limiters of the middleware; each call reads them again
 */
export function middlewareKeys(ipv6Prefix: number, all: Iterable<KeyedLimiter>): ClientKeys {
  return {
    keyOf: (text) => readKey(checkClient(text), ipv6Prefix),
    isNetwork: (text) => isNetwork(text, all),
    everywhere(given) {
      const text = checkClient(given)
      warnOfNoClient(text, [...all])
      return Array.from(all).flatMap((each) =>
        keysMeant(text, each).map((key) => ({ limiter: each.limiter, key })),
      )
    },
    siblings: () => Array.from(all, ({ limiter }) => limiter),
  }
}

/**
 * Whether a text means a network. An IPv6 network as long as `ipv6Prefix` is the key of a client, and where a
 * key function returns text, a client may have chosen it: then only the option tells.
 *
 * @throws SluiceError where the option would have to
 */
function isNetwork(text: string, all: Iterable<KeyedLimiter>): boolean {
  if (!checkKey(text).includes('/') || !isAddressLike(text)) return false
  const range = parseCidr(text)
  const limiters = Array.from(all, ({ compiled }) => compiled)
  const isKey = ({ ipv6Prefix }: KeyedLimiter['compiled']) => ipv6Prefix === range?.prefix
  if (range !== undefined && !isIPv4(range.network) && limiters.some(isKey)) return false
  if (!limiters.some(({ keyKinds }) => keyKinds.includes('function'))) return true
  throw new SluiceError({
    code: 'SLUICE_KEY',
    option: 'key',
    expected: 'the key of a client',
    received: text,
    fix: "For the network, add the option { network: true }. For the result of a key function, write 'key:' before it.",
  })
}

/** A key function may return addresses too, in any form. */
function keysMeant(text: string, { compiled }: KeyedLimiter): string[] {
  const { keyKinds, ipv6Prefix } = compiled
  const key = readKey(text, ipv6Prefix)
  const givenToo = keyKindOf(text) === 'ip' && keyKinds.includes('function')
  const length = shardLength(text)
  return givenToo ? [key, text.slice(0, length) + textKey(text.slice(length))] : [key]
}

function checkClient(given: unknown): string {
  const text = checkKey(given)
  const range = text.includes('/') ? parseCidr(text) : undefined
  if (range === undefined || keyKindOf(text) === 'ip') return text
  throw new SluiceError({
    code: 'SLUICE_KEY',
    option: 'key',
    expected: 'the key of one client',
    received: text,
    fix: "Give a single address; only block and reset take networks. For the result of a key function, write 'key:' before it.",
  })
}

/** Warns, because a block that affects no client looks like one that does. */
function warnOfNoClient(text: string, httpLimiters: readonly KeyedLimiter[]): void {
  if (shardLength(text) === 0 && httpLimiters.every(({ compiled }) => compiled.isSharded)) {
    const problem =
      'block or reset was called with a key without its shard, but every limiter has shard, so it affects ' +
      "clients without one alone. Write '{shard}key', as onDecision has it."
    warnOnce('SLUICE_KEY_KIND', problem)
    return
  }
  const kind = keyKindOf(text)
  if (kind === 'ip' || httpLimiters.some(({ compiled }) => compiled.keyKinds.includes(kind))) return
  const [given, missing, fix] =
    kind === 'user'
      ? [
          "'user:…'",
          "key: 'user'",
          "For the result of a key function, write 'key:' before it: 'key:user:…'.",
        ]
      : [
          'text that is not an address',
          'a key function',
          "Write an address; for a user, 'user:' and the id.",
        ]
  const problem = `block or reset was called with ${given}, but no policy of the limiter has ${missing}, so it affects no client. ${fix}`
  warnOnce('SLUICE_KEY_KIND', problem)
}
