import { WaitError } from '../../errors/wait-error.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { fullOf } from '../../stores/rules/decide-all.ts'
import { madeOf, undone } from '../../stores/rules/slots.ts'
import type { Charge } from '../../stores/store.ts'
import type { ChargeLimiter } from '../charge-limiter.ts'
import type { Decision } from '../decision.ts'
import { limitOfClient } from '../enforcement.ts'
import type { ClientOptions, WaitOptions } from '../limiter.ts'
import type { Policy } from '../policy.ts'
import type { RequestWait, WaitActions, WaitQueues } from './wait-queues.ts'

/** Lets calls wait until a limiter admits them. The first one loads the queues. */
export class Waiting {
  readonly #most: number
  readonly #limiter: ChargeLimiter
  readonly #ask: WaitActions['ask']
  queues: WaitQueues | undefined
  #loading: Promise<WaitQueues> | undefined
  #isClosed = false

  /**
   * @param most how many may wait at the same time
   * @param ask asks the limiter to admit charges, and publishes nothing
   */
  constructor(limiter: ChargeLimiter, most: number, ask: WaitActions['ask']) {
    this.#limiter = limiter
    this.#most = most
    this.#ask = ask
  }

  /**
   * Makes the charges as soon as they are admitted.
   * @param charges one or more, unchanged until it has answered; without `request`, of the same key
   * @param request left out: they are of an application's own call
   * @throws WaitError and SluiceError, as rejections: see `Limiter.wait`
   */
  async wait(
    charges: readonly Charge[],
    options: WaitOptions & ClientOptions,
    request?: RequestWait,
  ): Promise<Decision> {
    if (this.#isClosed) throw new WaitError('SLUICE_WAIT_CLOSED', 0)
    this.#loading ??= this.#load()
    return (await this.#loading).wait(charges, options, request)
  }

  /** The first key of these charges for which somebody waits. */
  awaitedKey(charges: readonly Charge[]): string | undefined {
    return this.queues?.awaitedKey(charges)
  }

  /** Lets the first that waits for the key ask again: something may have changed for it. */
  wake(key: string): void {
    this.queues?.wake(key)
  }

  /** Lets all who wait ask again, by the limits that the policies have now. */
  relimit(policies: readonly Policy[]): void {
    this.queues?.relimit((charges) => {
      for (const [i, charge] of charges.entries()) {
        const policy = policies[i] as Policy
        charge.limit = limitOfClient(policy, charge.key, policy.compiledLimit ?? charge.limit)
      }
    })
  }

  /** Rejects all who wait, and all who come later. */
  close(): void {
    this.#isClosed = true
    void this.#loading?.then((queues) => queues.close())
  }

  async #load(): Promise<WaitQueues> {
    const { WaitQueues } = await import('./wait-queues.ts')
    const limiter = this.#limiter
    const queues = new WaitQueues(
      {
        ask: this.#ask,
        undo: (charges, decision) =>
          limiter.correct(undone(madeOf(charges, decision.policies)), decision),
        ended: (decision, charges, durationMs) => limiter.report(decision, charges, durationMs),
        overLimit: (charges) => this.#overLimit(charges),
      },
      this.#most,
    )
    limiter.ledgers.whenChanged = (keys) => {
      for (const key of keys) queues.wake(key)
    }
    this.queues = queues
    return queues
  }

  /** Previews charges that are larger than their limits: a client may have a larger one. */
  #overLimit(charges: readonly Charge[]): MaybePromise<Decision | undefined> {
    if (!charges.some(({ limit, cost }) => cost > fullOf(limit, Date.now()))) return undefined
    return this.#limiter.preview(charges)
  }
}
