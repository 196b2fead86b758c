import type { Charge, MaybePromise } from '@sluice/core'
import { andThen, certainWaitMs, refusingPolicy, type StoreLimiter } from '@sluice/core/internal'
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

  async #wait(
    charges: readonly Charge[],
    request: Request,
    response: Response,
    queueKey: string,
  ): Promise<Waited | undefined> {
    const { waitInQueue } = await import('./wait-in-queue.ts')
    const wait = { charges, queueKey, maxWait: this.#maxWait }
    return waitInQueue(this.#limiter, this.#compiled, wait, request, response)
  }
}
