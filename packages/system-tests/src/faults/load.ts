import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createLimiter, type Decision, type Limiter, type LimiterOptions } from '@sluice/core'
import { until } from '@sluice/test-harness/redis'
import { warningCodes } from './warning-codes.ts'

/** The limit of each client in an hour, counted to the request. */
export const LIMIT = 40
/** Clients that use up their quota while the load lasts. */
const CLIENTS = 5
const WORKERS = 8

/** The deadline of every limiter under test, ms: the default. */
export const DEADLINE_MS = 100

type Mode = Pick<LimiterOptions, 'onStoreError' | 'localShare' | 'refusalCache'>

/** The results of a load, so far. */
export interface Report {
  /** Requests decided. */
  readonly decided: number
  /** The longest that one of them was waited for, ms. */
  readonly waitedMs: number
  /** The longest that this process itself was blocked within the time of one request, ms. */
  readonly stalledMs: number
  /** The units that all clients together were admitted beyond their limits. */
  readonly excess: number
  /** The most that one client was admitted beyond its limit. */
  readonly worstExcess: number
  /** Rejections and exceptions: there must be none. */
  readonly errors: readonly unknown[]
  readonly sources: ReadonlySet<Decision['source']>
}

/** Runs again until the store has decided everything: a stall of the server lets this process decide. */
export async function undisturbed(run: () => Promise<Report>): Promise<Report> {
  const decidedByStore = async () => {
    warningCodes.length = 0
    const report = await run()
    return !report.sources.has('local') && warningCodes.length === 0 ? report : undefined
  }
  const what = 'the store decides everything, without a warning'
  return (await until(decidedByStore, { what })) as Report
}

/**
 * Requests of a few clients, one after the other in several strands, that go on until they are
 * stopped: of some clients that use up their quotas, and of one that never does and so shows who
 * decides.
 */
export class Load {
  readonly #scarce: Limiter
  readonly #plenty: Limiter
  readonly #admitted = new Map<string, number>()
  readonly #sources = new Set<Decision['source']>()
  readonly #errors: unknown[] = []
  #decided = 0
  #waitedMs = 0
  #stalledMs = 0
  #running = true
  #isWatched = true
  /** The source of the last decision for the client that is never refused. */
  #lastSource: Decision['source'] | undefined
  #strands: Promise<unknown>[] = []
  #watch: Promise<unknown> | undefined

  constructor(store: NonNullable<LimiterOptions['store']>, failureMode: Mode = {}) {
    const prefix = randomUUID()
    const options = {
      store,
      prefix,
      window: '1d',
      algorithm: 'sliding-log',
      ...failureMode,
    } as const
    this.#scarce = createLimiter({ ...options, limit: LIMIT })
    this.#plenty = createLimiter({ ...options, algorithm: 'fixed-window', limit: 10 ** 9 })
  }

  start(): this {
    this.#watch = this.#watchStalls()
    this.#strands = Array.from({ length: WORKERS }, (_, i) => this.#strand(i))
    return this
  }

  /** Resolves once the store decides again, or `source` does: with how long that took, ms. */
  async untilDecidedBy(source: Decision['source']): Promise<number> {
    const startedAt = performance.now()
    this.#lastSource = undefined
    const what = `'${source}' decides`
    await until(() => this.#lastSource === source, { everyMs: 1, what })
    return performance.now() - startedAt
  }

  /** Resolves once so many more requests have been decided. */
  async untilDecided(count: number): Promise<void> {
    const goal = this.#decided + count
    const what = `${count} more requests are decided`
    await until(() => this.#decided >= goal, { everyMs: 1, what })
  }

  /**
   * Resolves once the store has decided so many more requests without a warning, and forgets earlier
   * warnings: a stall of the server is an outage too, and proves nothing.
   */
  async untilNormal(count: number): Promise<void> {
    const isNormal = async () => {
      warningCodes.length = 0
      await this.untilDecided(count)
      return this.#lastSource === 'store' && warningCodes.length === 0
    }
    await until(isNormal, { what: `the store decides ${count} requests without a warning` })
  }

  async stop(): Promise<Report> {
    this.#running = false
    await Promise.all(this.#strands)
    this.#isWatched = false
    await this.#watch
    const beyond = [...this.#admitted.values()].map((admitted) => Math.max(0, admitted - LIMIT))
    return {
      decided: this.#decided,
      waitedMs: this.#waitedMs,
      stalledMs: this.#stalledMs,
      excess: beyond.reduce((sum, each) => sum + each, 0),
      worstExcess: Math.max(0, ...beyond),
      errors: this.#errors,
      sources: this.#sources,
    }
  }

  async #strand(number: number): Promise<void> {
    for (let i = number; this.#running; i += 1) {
      const client = `client ${i % CLIENTS}`
      const decision = await this.#ask(this.#scarce, client)
      if (decision?.allowed) this.#admitted.set(client, (this.#admitted.get(client) ?? 0) + 1)
      this.#lastSource = (await this.#ask(this.#plenty, 'never refused'))?.source
      await delay(1)
    }
  }

  async #ask(limiter: Limiter, key: string): Promise<Decision | undefined> {
    const startedAt = performance.now()
    try {
      const decision = await limiter.consume(key)
      this.#sources.add(decision.source)
      return decision
    } catch (error) {
      this.#errors.push(error)
      return undefined
    } finally {
      this.#decided += 1
      this.#waitedMs = Math.max(this.#waitedMs, performance.now() - startedAt)
    }
  }

  /** Watches from before the first request until the last is decided, which is after `running` has ended. */
  async #watchStalls(): Promise<void> {
    const stalls: { readonly at: number; readonly ms: number }[] = []
    for (let last = performance.now(); this.#isWatched; last = performance.now()) {
      await delay(5)
      const at = performance.now()
      if (at - last > 10) stalls.push({ at, ms: at - last - 5 })
      while (stalls[0] !== undefined && stalls[0].at < at - 4 * DEADLINE_MS) stalls.shift()
      const ms = stalls.reduce((sum, stall) => sum + stall.ms, 0)
      this.#stalledMs = Math.max(this.#stalledMs, ms)
    }
  }
}
