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

  /** A decision. Its policies have counted it. */
  count(nowMs: number, client: number, admitted: boolean): void {
    this.#timeline.enter(nowMs)
    this.#timeline.count(admitted ? ADMITTED : REFUSED)
    if (admitted) {
      this.admitted += 1
      this.refusals.admit(client)
    } else {
      this.refused += 1
      this.refusals.refuse(client, nowMs)
    }
    let keys = 0
    for (let i = 0; i < this.policies.length; i += 1)
      keys += (this.policies[i] as PolicyFigures).keys.count
    if (keys > this.peakKeys) this.peakKeys = keys
  }

  /** A ban begins, with a refusal that is counted separately. */
  ban(client: number): void {
    this.bans += 1
    this.#banned.add(client)
  }

  get clientsBanned(): number {
    return this.#banned.size
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
