import { setTimeout } from 'node:timers/promises'
import { messageOf } from '@sluice/terminal/say'
import type { Health } from '../health.ts'
import type { Ranker, Ranking } from '../ranking.ts'
import type { PoliciesSnapshot, PolicyWatch } from './policy-watch.ts'

/** The counts of one reading. */
export interface Point extends Pick<Ranking, 'at' | 'keys' | 'exhausted' | 'banned' | 'blocked'> {
  /** Whether nobody looked, or the store did not answer, between this reading and the one before. */
  readonly isAfterGap: boolean
}

/** The data of the page. */
export interface Snapshot {
  /** Undefined: nothing has been read yet. */
  readonly ranking: Ranking | undefined
  /** Why the last reading failed. */
  readonly problem: string | undefined
  /** Readings so far, the oldest first. */
  readonly history: readonly Point[]
  readonly health: readonly Health[]
  readonly policies: PoliciesSnapshot
}

/** Readings that are remembered. */
const MAX_POINTS = 900
/** How long after a question somebody is still looking, ms. */
const LOOKING_MS = 10_000

/** Reads the store for all who look at the page, and rests when nobody does. */
export class StoreWatch {
  readonly #ranker: Ranker
  readonly #policies: PolicyWatch
  readonly #askHealth: () => Promise<readonly Health[]>
  readonly #everyMs: number
  readonly #ending = new AbortController()
  readonly #history: Point[] = []
  #ranking: Ranking | undefined
  #problem: string | undefined
  #health: readonly Health[] = []
  #lookedAt = -Infinity
  #running: Promise<void> | undefined
  /** Whether the next reading follows a time in which there was none. */
  #isAfterGap = false

  /** @param everyMs pause between two readings */
  constructor(
    ranker: Ranker,
    policies: PolicyWatch,
    askHealth: () => Promise<readonly Health[]>,
    everyMs: number,
  ) {
    this.#ranker = ranker
    this.#policies = policies
    this.#askHealth = askHealth
    this.#everyMs = everyMs
  }

  look(): Snapshot {
    this.#lookedAt = performance.now()
    this.#running ??= this.#run()
    const ranking = this.#ranking
    const problem = this.#problem
    const health = this.#health
    return { ranking, problem, history: this.#history, health, policies: this.#policies.look() }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending
    while (!signal.aborted && performance.now() - this.#lookedAt < LOOKING_MS) {
      await this.#read(signal)
      await setTimeout(this.#everyMs, undefined, { signal }).catch(() => {})
    }
    this.#isAfterGap = true
    this.#running = undefined
  }

  async #read(signal: AbortSignal): Promise<void> {
    try {
      // The state of the servers is not needed to read the keys.
      this.#health = await this.#askHealth().catch(() => [])
      await this.#policies.read()
      const counter = await this.#policies.counter()
      const ranking = await this.#ranker.rank(
        'share',
        signal,
        (soFar) => {
          // A complete reading stays until there is more.
          if (this.#ranking?.isComplete !== true) this.#ranking = soFar
          // A reading of all keys may take a minute.
          void this.#policies.read().catch(() => {})
        },
        (entry) => counter?.add(entry),
      )
      if (ranking === undefined) return
      this.#policies.keep(counter)
      this.#ranking = ranking
      this.#problem = undefined
      const { at, keys, exhausted, banned, blocked } = ranking
      this.#history.push({ at, keys, exhausted, banned, blocked, isAfterGap: this.#isAfterGap })
      this.#isAfterGap = false
      if (this.#history.length > MAX_POINTS) this.#history.shift()
    } catch (error) {
      this.#problem = messageOf(error)
      this.#isAfterGap = true
    }
  }
}
