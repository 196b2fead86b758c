import type { Batch } from '../runs/batch.ts'
import type { LiveKeys } from './live-keys.ts'
import type { PolicyFigures } from './policy-figures.ts'
import { Refusals } from './refusals.ts'
import { TimelineCounts } from './timeline.ts'

const ADMITTED = 0
const REFUSED = 1

/** Counts the requests of a run by their decisions. */
export class RunTally {
  readonly name: string
  admitted = 0
  refused = 0
  exempt = 0
  /** Bans that began. */
  bans = 0
  readonly #banned = new Set<number>()
  /** The most keys that the store had to hold at a time. */
  peakKeys = 0
  readonly refusals = new Refusals()
  /** The policies that requests have met, first the ones that hold everywhere. */
  readonly policies: PolicyFigures[] = []
  readonly #timeline = new TimelineCounts(2)

  constructor(name: string) {
    this.name = name
  }

  /** A request that no policy limits. */
  pass(nowMs: number): void {
    this.exempt += 1
    this.admitted += 1
    this.#timeline.enter(nowMs)
    this.#timeline.count(ADMITTED)
  }

  admit(nowMs: number, client: number): void {
    this.admitted += 1
    this.#timeline.enter(nowMs)
    this.#timeline.count(ADMITTED)
    this.refusals.admit(client)
  }

  refuse(nowMs: number, client: number): void {
    this.refused += 1
    this.#timeline.enter(nowMs)
    this.#timeline.count(REFUSED)
    this.refusals.refuse(client, nowMs)
  }

  /** A ban begins, with a refusal that is counted separately. */
  ban(client: number): void {
    this.bans += 1
    this.#banned.add(client)
  }

  get clientsBanned(): number {
    return this.#banned.size
  }

  /**
   * Counts a whole batch of which nothing is exempt.
   * @param admitted 1 for each request that was admitted, else 0
   * @param bans 1 for each request with which a ban began
   */
  count({ length, times, clients }: Batch, admitted: Uint8Array, bans: Uint8Array): void {
    for (let i = 0; i < length; i += 1) {
      const nowMs = times[i] as number
      const client = clients[i] as number
      if (admitted[i] === 1) this.admit(nowMs, client)
      else this.refuse(nowMs, client)
      if (bans[i] === 1) this.ban(client)
    }
  }

  /**
   * Counts the keys of the only policy for a whole batch.
   * @param resets the ms until the quota is full after each request
   */
  countKeys(keys: LiveKeys, { length, times, clients }: Batch, resets: Float64Array): void {
    for (let i = 0; i < length; i += 1) {
      keys.touch(clients[i] as number, times[i] as number, resets[i] as number)
      if (keys.count > this.peakKeys) this.peakKeys = keys.count
    }
  }

  /** Updates the peak number of keys, over all policies. */
  noteKeys(): void {
    let keys = 0
    for (let i = 0; i < this.policies.length; i += 1) {
      keys += (this.policies[i] as PolicyFigures).keys.count
    }
    if (keys > this.peakKeys) this.peakKeys = keys
  }

  get admittedTimeline(): number[] {
    return this.#timeline.of(ADMITTED)
  }

  get refusedTimeline(): number[] {
    return this.#timeline.of(REFUSED)
  }

  /** Ends the run: all waiting requests are released. */
  finish(): void {
    for (const policy of this.policies) policy.finish()
  }
}
