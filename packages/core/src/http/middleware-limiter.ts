import { SluiceError } from '../errors/sluice-error.ts'
import { warnOnce } from '../errors/warning.ts'
import { isAddressLike, parseCidr } from '../key/cidr.ts'
import { isIPv4 } from '../key/ip.ts'
import { type KeyKind, kindOf, readKey, shardLength, textKey } from '../key/notation.ts'
import type { Acquisition } from '../limiter/acquisition.ts'
import { checkKey } from '../limiter/arguments.ts'
import type { Decision } from '../limiter/decision.ts'
import type {
  BlockOptions,
  ClientOptions,
  GrantOptions,
  Limiter,
  LimitOptions,
  NetworkOptions,
  OverrideOptions,
  SettleOptions,
  WaitOptions,
} from '../limiter/limiter.ts'
import type { Turn } from '../limiter/turn.ts'
import { isPromise, type MaybePromise } from '../maybe-promise.ts'
import type { Duration } from '../options/duration.ts'

/** What it needs of each limiter, whatever its framework. */
interface AnyHttpLimiter {
  readonly limiter: Limiter
  readonly compiled: {
    readonly ipv6Prefix: number
    readonly keyKinds: readonly KeyKind[]
    readonly isSharded: boolean
  }
}

/**
 * The limiter of a middleware, for the application's own calls. `block` and `reset` apply to every
 * policy of the middleware, including those of routes with their own limits, and to networks such as
 * `203.0.113.0/24`; `consume`, `wait`, `takeTurn`, `peek`, `settle`, `override` and `grant` apply to the policies of all other
 * routes. Keys are read by kind: an address in any form, `user:42`, or what a key function returns, as `key:abc`
 * or plain.
 */
export class MiddlewareLimiter implements Limiter {
  private readonly base: AnyHttpLimiter
  private readonly httpLimiters: Iterable<AnyHttpLimiter>

  /**
   * @param base the limiter of all requests without an entry in `routes`
   * @param httpLimiters all of them, the base included; each call reads them again
   */
  constructor(base: AnyHttpLimiter, httpLimiters: Iterable<AnyHttpLimiter>) {
    this.base = base
    this.httpLimiters = httpLimiters
  }

  consume(
    key: string,
    options?: { cost?: number } & ClientOptions & LimitOptions,
  ): MaybePromise<Decision> {
    return this.base.limiter.consume(this.baseKey(key), options)
  }

  async wait(
    key: string,
    options?: { cost?: number } & WaitOptions & ClientOptions & LimitOptions,
  ): Promise<Decision> {
    return this.base.limiter.wait(this.baseKey(key), options)
  }

  takeTurn(
    key: string,
    options?: { cost?: number } & ClientOptions & LimitOptions,
  ): MaybePromise<Turn> {
    return this.base.limiter.takeTurn(this.baseKey(key), options)
  }

  acquire(
    key: string,
    options: { cost?: number; maxWait: Duration } & WaitOptions & ClientOptions & LimitOptions,
  ): Promise<Acquisition>
  acquire(
    key: string,
    options?: { cost?: number } & ClientOptions & LimitOptions,
  ): MaybePromise<Acquisition>
  acquire(key: string, options?: object): MaybePromise<Acquisition> {
    return this.base.limiter.acquire(this.baseKey(key), options)
  }

  peek(key: string, options?: ClientOptions & LimitOptions): MaybePromise<Decision> {
    return this.base.limiter.peek(this.baseKey(key), options)
  }

  settle(key: string, delta: number, options?: SettleOptions): MaybePromise<void> {
    return this.base.limiter.settle(this.baseKey(key), delta, options)
  }

  reset(given: string | readonly string[], options?: BlockOptions): MaybePromise<void> {
    const { limiter } = this.base
    if (typeof given !== 'string') return limiter.reset(given, options as NetworkOptions)
    if (this.isNetwork(given, options)) return limiter.reset(given, { network: true })
    return this.everywhere(given, (httpLimiter, each) => httpLimiter.limiter.reset(each, options))
  }

  block(
    given: string | readonly string[],
    duration: Duration,
    options?: BlockOptions,
  ): MaybePromise<void> {
    const { limiter } = this.base
    if (typeof given !== 'string') return limiter.block(given, duration, options as NetworkOptions)
    if (this.isNetwork(given, options)) return limiter.block(given, duration, { network: true })
    return this.everywhere(given, (httpLimiter, each) =>
      httpLimiter.limiter.block(each, duration, options),
    )
  }

  override(key: string, override: OverrideOptions | null): MaybePromise<void> {
    return this.base.limiter.override(this.baseKey(key), override)
  }

  grant(key: string, units: number, options?: GrantOptions): MaybePromise<boolean> {
    return this.base.limiter.grant(this.baseKey(key), units, options)
  }

  close(): void {
    for (const httpLimiter of this.httpLimiters) httpLimiter.limiter.close()
  }

  private baseKey(text: string): string {
    return readKey(checkClient(text), this.base.compiled.ipv6Prefix)
  }

  /**
   * Whether a text means a network. An IPv6 network as long as `ipv6Prefix` is the key of a client, and where a
   * key function returns text, a client may have chosen it: then only the option tells.
   *
   * @throws SluiceError where the option would have to
   */
  private isNetwork(text: string, options: BlockOptions | undefined): boolean {
    if (options?.network !== undefined) return options.network
    if (!checkKey(text).includes('/') || !isAddressLike(text)) return false
    const range = parseCidr(text)
    const limiters = [...this.httpLimiters].map(({ compiled }) => compiled)
    const isKey = ({ ipv6Prefix }: AnyHttpLimiter['compiled']) => ipv6Prefix === range?.prefix
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

  private everywhere(
    text: string,
    act: (httpLimiter: AnyHttpLimiter, key: string) => MaybePromise<void>,
  ): MaybePromise<void> {
    const httpLimiters = [...this.httpLimiters]
    warnOfNoClient(checkClient(text), httpLimiters)
    const pending = httpLimiters.flatMap((httpLimiter) =>
      keysMeant(text, httpLimiter).map((key) => act(httpLimiter, key)),
    )
    return pending.some(isPromise) ? Promise.all(pending).then(() => undefined) : undefined
  }
}

/** A key function may return addresses too, in any form. */
function keysMeant(text: string, { compiled }: AnyHttpLimiter): string[] {
  const { keyKinds, ipv6Prefix } = compiled
  const key = readKey(text, ipv6Prefix)
  const givenToo = kindOf(text) === 'ip' && keyKinds.includes('function')
  const length = shardLength(text)
  return givenToo ? [key, text.slice(0, length) + textKey(text.slice(length))] : [key]
}

function checkClient(text: string): string {
  const range = checkKey(text).includes('/') ? parseCidr(text) : undefined
  if (range === undefined || kindOf(text) === 'ip') return text
  throw new SluiceError({
    code: 'SLUICE_KEY',
    option: 'key',
    expected: 'the key of one client',
    received: text,
    fix: "Give a single address; only block and reset take networks. For the result of a key function, write 'key:' before it.",
  })
}

/** Warns, because a block that affects no client looks like one that does. */
function warnOfNoClient(text: string, httpLimiters: readonly AnyHttpLimiter[]): void {
  if (shardLength(text) === 0 && httpLimiters.every(({ compiled }) => compiled.isSharded)) {
    const problem =
      'block or reset was called with a key without its shard, but every limiter has shard, so it affects ' +
      "clients without one alone. Write '{shard}key', as onDecision has it."
    warnOnce('SLUICE_KEY_KIND', problem)
    return
  }
  const kind = kindOf(text)
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
