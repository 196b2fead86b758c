import { addressKey, type Charge, type Decision, type MaybePromise, WaitError } from '@sluice/core'
import {
  andThen,
  asRefusal,
  certainWaitMs,
  refusingPolicy,
  type StoreLimiter,
} from '@sluice/core/internal'
import type { CompiledOptions } from '../../options/compile-options.ts'
import type { Waited, WaitingStrategy } from './waiting-strategy.ts'

/** Lets requests wait instead of refusing them, each behind those that wait for the same. */
export class UntilAdmitted<Request, Response> implements WaitingStrategy<Request, Response> {
  readonly #limiter: StoreLimiter
  readonly #compiled: CompiledOptions<Request, Response>
  readonly #maxWait: number

  /** @param maxWait the longest that a request waits, ms */
  constructor(
    limiter: StoreLimiter,
    compiled: CompiledOptions<Request, Response>,
    maxWait: number,
  ) {
    this.#limiter = limiter
    this.#compiled = compiled
    this.#maxWait = maxWait
  }

  decide(
    charges: readonly Charge[],
    request: Request,
    response: Response,
    route: string | undefined,
  ): MaybePromise<Waited | undefined> {
    const awaited = this.#limiter.waiting.awaitedKey(charges)
    if (awaited !== undefined) return this.#wait(charges, request, response, awaited)
    return andThen(
      this.#limiter.decide(charges, route),
      (decision): MaybePromise<Waited | undefined> => {
        const { allowed, ban, policies } = decision
        const isFinal = allowed || ban !== undefined || policies.length === 0
        if (isFinal || certainWaitMs(decision) > this.#maxWait) return { decision }
        const { key } = charges[refusingPolicy(decision)] as Charge
        return this.#wait(charges, request, response, key)
      },
    )
  }

  /** @param queueKey the key for which it waits */
  async #wait(
    charges: readonly Charge[],
    request: Request,
    response: Response,
    queueKey: string,
  ): Promise<Waited | undefined> {
    const { adapter, ipv6Prefix, priority, readAddress } = this.#compiled
    const [{ key }] = charges as [Charge]
    const client = addressKey(readAddress(request), ipv6Prefix) ?? key
    const leaving = new AbortController()
    const { signal } = leaving
    const unwatch = adapter.whenClosed(response, () => leaving.abort())
    try {
      const given = typeof priority === 'function' ? await priority(request, key) : priority
      const options = { maxWait: this.#maxWait, priority: given, signal }
      const wait = { queueKey, client }
      const decision = await this.#limiter.waiting.wait(charges, options, wait)
      return { decision, hasWaited: true }
    } catch (error) {
      if (!(error instanceof WaitError)) throw error
      if (error.code === 'SLUICE_WAIT_ABORTED') return undefined
      return { decision: await this.#refusalOf(charges, queueKey, error), hasWaited: true }
    } finally {
      unwatch()
    }
  }

  /** Refuses a request that has waited in vain, or would. Those who wait come before it. */
  async #refusalOf(
    charges: readonly Charge[],
    queueKey: string,
    { retryAfterMs }: WaitError,
  ): Promise<Decision> {
    const decision = await this.#limiter.preview(charges)
    const awaited = charges.findIndex(({ key, limit }) => key === queueKey && limit.refuses)
    const name = decision.policies[awaited]?.name
    return asRefusal(decision, (each) =>
      each.name === name ? Math.max(1, retryAfterMs, each.retryAfterMs) : each.retryAfterMs,
    )
  }
}
