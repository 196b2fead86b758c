import {
  type Decision,
  type EventOptions,
  type MemoryStore,
  memoryStore,
  SluiceError,
} from '@sluice/core'
import {
  checkKnown,
  checkObject,
  limiterOn,
  Policy,
  type StoreLimiter,
  type StoreOptions,
} from '@sluice/core/internal'

/** Policies with their windows and blocks: each combination has a quota of its own. */
const MAX_LIMITERS = 100
const MINUTE_MS = 60_000

/** Where a limiter counts, and how it reports its decisions. */
export type VaryingLimiterOptions = Omit<StoreOptions, 'ban' | 'lease'> &
  Omit<EventOptions, 'onThreshold'>

/** The options that there are: the compiler asks for each of them. */
const KNOWN: Readonly<Record<keyof VaryingLimiterOptions, true>> = {
  store: true,
  prefix: true,
  deadline: true,
  onStoreError: true,
  localShare: true,
  refusalCache: true,
  maxWaiting: true,
  name: true,
  onDecision: true,
  keySecret: true,
}

/** The limit of a call. One count of a key serves all limits, but each window and block has its own. */
export interface VaryingPolicy {
  readonly name: string
  readonly limit: number
  readonly windowMs: number
  /** How long the first refusal refuses everything. Then the quota is full. 0: it does not. */
  readonly blockMs: number
}

/**
 * A limiter whose policy is given with each call, for an adapter to something that has limits of its
 * own. It counts the last window exactly.
 */
export class VaryingLimiter {
  readonly #options: VaryingLimiterOptions
  /** The store of all policies, unless the user has one. */
  readonly #ownStore: MemoryStore | undefined
  readonly #limiters = new Map<string, StoreLimiter>()

  /** @throws SluiceError if an option is unknown, of the wrong type or out of range */
  constructor(options: VaryingLimiterOptions) {
    checkObject('options', options, 'the options of a storage')
    checkKnown('', options, Object.keys(KNOWN))
    this.#ownStore = options.store === undefined ? memoryStore() : undefined
    this.#options = this.#ownStore === undefined ? options : { ...options, store: this.#ownStore }
    // Checks the values.
    this.#limiterOf('default', MINUTE_MS, MINUTE_MS)
  }

  /** @throws SluiceError for a wrong key or policy, and for too many windows and blocks */
  async consume(key: string, policy: VaryingPolicy): Promise<Decision> {
    const { name, limit, windowMs, blockMs } = policy
    const limiter = this.#limiterOf(name, windowMs, blockMs)
    const decision = await limiter.consume(key, { limit })
    if (decision.ban?.began && blockMs < windowMs) await blockUntilWhole(limiter, key, blockMs)
    return decision
  }

  close(): void {
    for (const limiter of this.#limiters.values()) limiter.close()
    this.#ownStore?.close()
  }

  #limiterOf(name: string, window: number, blockMs: number): StoreLimiter {
    const id = `${name} ${window} ${blockMs}`
    const known = this.#limiters.get(id)
    if (known !== undefined) return known
    if (this.#limiters.size === MAX_LIMITERS) throw tooMany(id)
    const limit = () => undefined
    // With the unit: a short one is meant, as numbers of milliseconds are all that there is here.
    const within = `${window}ms` as const
    const limiter = limiterOn(
      [new Policy('', { name, limit, window: within, algorithm: 'sliding-log' })],
      {
        ...this.#options,
        ...(blockMs > 0 && { ban: { after: 1, within, for: [`${blockMs}ms`] } }),
        // Another process must not remember a refusal for longer than the block.
        ...(blockMs > 0 && blockMs < window && { refusalCache: false }),
      },
      { onDecision: this.#options.onDecision, sharesQuotas: true },
    )
    this.#limiters.set(id, limiter)
    return limiter
  }
}

/** Without it, units that were used before a ban shorter than the window would count for longer. */
async function blockUntilWhole(limiter: StoreLimiter, key: string, blockMs: number): Promise<void> {
  try {
    await limiter.block(key, blockMs)
  } catch {
    // The store fails. The ban holds, and what was used before counts until its window has passed.
  }
}

function tooMany(received: string): SluiceError {
  return new SluiceError({
    code: 'SLUICE_OPTION_RANGE',
    option: 'name, window, block',
    expected: `at most ${MAX_LIMITERS} combinations, because each has a quota of its own`,
    received,
    fix: 'Choose the window and the block by what you know of the client, such as its plan, not by what it sends.',
  })
}
