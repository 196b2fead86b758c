import type { Charge } from '../../stores/store.ts'
import type { ChargeLimiter } from '../charge-limiter.ts'
import type { Decision } from '../decision.ts'
import type { ClientOptions, WaitOptions } from '../limiter.ts'
import type { Policy } from '../policy.ts'
import type { RequestWait, WaitActions, WaitQueues } from './wait-queues.ts'

/** Lets calls wait until a limiter admits them. The first one loads the queues. */
export class Waiting {
  readonly #load: () => Promise<WaitQueues>
  #loading: Promise<WaitQueues> | undefined
  /** Undefined until the first call has loaded them. */
  queues: WaitQueues | undefined
  #isClosed = false

  /**
   * @param most how many may wait at the same time
   * @param ask asks the limiter to admit charges, and publishes nothing
   */
  constructor(limiter: ChargeLimiter, most: number, ask: WaitActions['ask']) {
    this.#load = async () => {
      const { queuesOf } = await import('./wait-queues.ts')
      this.queues = queuesOf(limiter, most, ask)
      if (this.#isClosed) this.queues.close()
      return this.queues
    }
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
    this.queues?.relimit(policies)
  }

  /** Rejects all who wait, and all who come later. */
  close(): void {
    this.#isClosed = true
    this.queues?.close()
  }
}
