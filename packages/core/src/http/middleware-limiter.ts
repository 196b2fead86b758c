import { SluiceError } from '../errors/sluice-error.ts'
import { warnOnce } from '../errors/warning.ts'
import { parseCidr } from '../key/cidr.ts'
import { kindOf, readKey, textKey } from '../key/notation.ts'
import type { Acquisition } from '../limiter/acquisition.ts'
import { checkKey } from '../limiter/arguments.ts'
import type { Decision } from '../limiter/decision.ts'
import type { KeyspaceOptions, Limiter, LimitOptions } from '../limiter/limiter.ts'
import { isPromise, type MaybePromise } from '../maybe-promise.ts'
import type { Duration } from '../options/duration.ts'
import type { DecisionSource } from '../stores/store.ts'
import type { HttpLimiter } from './http-limiter.ts'

/** What it needs of each limiter, whatever its framework. */
type AnyHttpLimiter = Pick<HttpLimiter<never, never>, 'limiter' | 'ipv6Prefix' | 'keyKinds'>

/**
 * The limiter of a middleware, for the application's own calls. `block` and `reset` apply to every
 * policy of the middleware, including those of routes with their own limits; `consume`, `peek` and
 * `settle` apply to the policies of all other routes. Keys are read by kind: an address in any form,
 * `user:42`, or what a key function returns, as `key:abc` or plain.
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

  consume(key: string, options?: { cost?: number } & LimitOptions): MaybePromise<Decision> {
    return this.base.limiter.consume(this.baseKey(key), options)
  }

  acquire(key: string, options?: { cost?: number } & LimitOptions): MaybePromise<Acquisition> {
    return this.base.limiter.acquire(this.baseKey(key), options)
  }

  peek(key: string, options?: LimitOptions): MaybePromise<Decision> {
    return this.base.limiter.peek(this.baseKey(key), options)
  }

  settle(
    key: string,
    delta: number,
    options?: { at?: number; source?: DecisionSource } & LimitOptions,
  ): MaybePromise<void> {
    return this.base.limiter.settle(this.baseKey(key), delta, options)
  }

  reset(key: string, options?: KeyspaceOptions): MaybePromise<void> {
    return this.everywhere(key, (httpLimiter, each) => httpLimiter.limiter.reset(each, options))
  }

  block(key: string, duration: Duration, options?: KeyspaceOptions): MaybePromise<void> {
    return this.everywhere(key, (httpLimiter, each) =>
      httpLimiter.limiter.block(each, duration, options),
    )
  }

  close(): void {
    for (const httpLimiter of this.httpLimiters) httpLimiter.limiter.close()
  }

  private baseKey(text: string): string {
    return readKey(checkClient(text), this.base.ipv6Prefix)
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
function keysMeant(text: string, { keyKinds, ipv6Prefix }: AnyHttpLimiter): string[] {
  const key = readKey(text, ipv6Prefix)
  const givenToo = kindOf(text) === 'ip' && keyKinds.includes('function')
  return givenToo ? [key, textKey(text)] : [key]
}

function checkClient(text: string): string {
  const range = checkKey(text).includes('/') ? parseCidr(text) : undefined
  if (range === undefined || kindOf(text) === 'ip') return text
  throw new SluiceError({
    code: 'SLUICE_KEY',
    option: 'key',
    expected: 'the key of one client',
    received: text,
    fix: "Give a single address; the option deny refuses ranges. For the result of a key function, write 'key:' before it.",
  })
}

/** Warns, because a block that affects no client looks like one that does. */
function warnOfNoClient(text: string, httpLimiters: readonly AnyHttpLimiter[]): void {
  const kind = kindOf(text)
  if (kind === 'ip' || httpLimiters.some(({ keyKinds }) => keyKinds.includes(kind))) return
  warnOnce(
    'SLUICE_KEY_KIND',
    kind === 'user'
      ? "block or reset was called with 'user:…', but no policy of the limiter has key: 'user', so " +
          "it affects no client. For the result of a key function, write 'key:' before it: 'key:user:…'."
      : 'block or reset was called with text that is not an address, but no policy of the limiter has ' +
          "a key function, so it affects no client. Write an address; for a user, 'user:' and the id.",
  )
}
