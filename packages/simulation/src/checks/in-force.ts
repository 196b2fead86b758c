import type { Charge, Documents } from '@sluice/core/store'
import {
  areGood,
  idOf,
  isFor,
  type Layer,
  type Layers,
  readDocument,
  settingsAt,
  type Terms,
  termsOf,
} from '../documents.ts'
import type { Owner } from '../owner.ts'
import { type Fault, isOfOperator, type PlannedPolicy } from '../plan.ts'
import { stalledMs } from './deadline.ts'

/** How often a process asks for the document, ms. */
const READ_EVERY_MS = 2000
/** The longest that a read takes on a quiet network: two calls, ms. */
const READ_MS = 50
/** When a process asks again whose last question was lost, and the longest that a store is away afterwards, ms. */
const LOST_MS = 15_000

/** What a process may have taken over. */
interface Known {
  /** The version of the last text that it has read; '' if there was none. */
  readonly version: string
  /** The last good document. */
  readonly layers: Layers
}

const NOTHING: Known = { version: '', layers: {} }

/** What is in force in a process: what its code says, and what the documents say that it has read. */
export class InForce {
  /** How many calls of an operator are in progress here: they read the document too. */
  operating = 0
  readonly #owner: Owner
  /** The policies of its version. */
  readonly #policies: readonly PlannedPolicy[]
  readonly #isLive: boolean
  readonly #steps: boolean
  /** What it has, by what is known of that. */
  #known: readonly Known[] = [NOTHING]
  /** When it last learned what has ended, ms on the store's clock. */
  #learnedAt = -Infinity
  /** The documents of the store, read past the process; undefined: it has none. */
  documents: Documents<'async'> | undefined = undefined
  /** Counts what it has learned. */
  learned = 0
  /** Counts the changes that it has made itself. */
  #changes = 0

  constructor(owner: Owner, policies: readonly PlannedPolicy[]) {
    this.#owner = owner
    this.#policies = policies
    this.#isLive = policies.some(({ live }) => live !== undefined)
    this.#steps = owner.world.plan.faults.some(({ kind }) => kind === 'server clock')
  }

  /** What the process reads of a store, it knows. */
  watch(documents: Documents<'async'>): Documents<'async'> {
    this.documents = documents
    return {
      read: async (prefix, name, known) => {
        const changes = this.#changes
        // An operator's call reads the document, and takes nothing over.
        const isPoll = known !== '' || this.operating === 0
        const read = await documents.read(prefix, name, known)
        if (name === 'policies')
          this.#learn(read.text, known, read.at, isPoll && changes === this.#changes)
        return read
      },
      replace: async (prefix, name, ...given) => {
        const askedAt = this.#storeNow
        const isDone = await documents.replace(prefix, name, ...given)
        if (name !== 'policies' || !isDone) return isDone
        this.#changes += 1
        this.#learn(given[1], '', askedAt, true)
        return isDone
      },
    }
  }

  /**
   * The terms of a request's policies.
   *
   * @param own the numbers of the policies that the charges are for
   * @param paid the limit that its client has paid for
   * @returns undefined, and fails, if no document that the process may have says what the charges say
   */
  of(
    charges: readonly Charge[],
    own: readonly number[],
    paid: number | undefined,
  ): readonly Terms[] {
    if (this.#isLive) this.#checkAge()
    const policies = own.map((each) => this.#policies[each] as PlannedPolicy)
    const possible = this.#possible(policies, paid)
    const same = possible.filter((terms) =>
      charges.every((each, i) => isBy(each, terms[i] as Terms)),
    )
    const [first] = possible as [readonly Terms[]]
    if (same.length === 0) {
      const asked = charges.map(({ limit }) => limit.params.limit)
      this.#fail(`decides by ${asked}, and has ${possible.map(textOf).join(' or ')}`)
    }
    // Where documents differ in whom they refuse, the one that the charges are by is in force.
    const { shares } = this.#owner.world
    const fits = (terms: readonly Terms[]) =>
      charges.every((each, i) =>
        shares.fits(policies[i] as PlannedPolicy, each, (terms[i] as Terms).enforced),
      )
    return same.find(fits) ?? same[0] ?? first
  }

  #possible(policies: readonly PlannedPolicy[], paid: number | undefined) {
    const all: (readonly Terms[])[] = []
    for (const { layers } of this.#known)
      for (const at of this.#timesOf(Object.values(layers).flat()))
        all.push(
          policies.map((policy) => {
            const settings = policy.live === undefined ? {} : settingsAt(layers[idOf(policy)], at)
            return termsOf(policy, settings, paid)
          }),
        )
    return all
  }

  /** The times, on the store's clock, as of which it may have looked at what ends. */
  #timesOf(layers: readonly Layer[]): readonly number[] {
    const learnedAt = this.#learnedAt
    const storeNow = this.#storeNow
    const ends = layers.flatMap(({ until }) => until ?? [])
    // After a step of the clock, what has ended in a process stays so, and what has not may.
    if (this.#steps) return [-Infinity, ...ends]
    const times = [learnedAt, ...ends.filter((end) => end > learnedAt && end <= storeNow + 1)]
    const lateMs = READ_EVERY_MS + READ_MS + this.#stalledMs
    const over = ends.filter((end) => end <= storeNow - lateMs)
    return this.#owner.machine.isAtRest
      ? times
      : times.filter((at) => over.every((end) => end <= at))
  }

  #learn(text: string | undefined, asked: string, at: number, isCertain: boolean): void {
    this.learned += 1
    if (isCertain) this.#learnedAt = Math.max(this.#learnedAt, at)
    if (text === undefined) {
      const same = this.#known.filter(({ version }) => version === asked)
      if (isCertain && same.length > 0) this.#known = same
      return
    }
    const version = text.slice(0, 16)
    const next = this.#known.map(({ layers }) => ({
      version,
      layers: this.#layersOf(text, at, layers),
    }))
    const all = isCertain ? next : [...this.#known, ...next]
    const texts = all.map((each) => JSON.stringify(each))
    this.#known = all.filter((_, i) => texts.indexOf(texts[i] as string) === i)
  }

  /**
   * The settings of a document if all policies of the process can take it over, or those before it. A policy
   * that can't have its settings in this version stays as it was.
   */
  #layersOf(text: string, at: number, before: Layers): Layers {
    const policies = readDocument(text)?.policies
    if (policies === undefined) return before
    const taken: Record<string, readonly Layer[]> = { ...policies }
    for (const policy of this.#policies) {
      if (policy.live === undefined) continue
      const id = idOf(policy)
      const settings = settingsAt(policies[id], at)
      if (!isFor(policy, settings)) taken[id] = before[id] ?? []
      else if (!areGood(settings)) return before
    }
    return taken
  }

  /** While nothing fails, it has what the store had within the last two seconds. */
  #checkAge(): void {
    const { now } = this.#owner.world.timeline
    const ageMs = READ_EVERY_MS + READ_MS + this.#stalledMs
    if (
      !this.#isQuiet ||
      this.#owner.machine.isAtRest ||
      now - this.#owner.machine.startedAt <= ageMs
    )
      return
    const current = this.#owner.world.stored.since(now - ageMs)
    if (this.#known.some(({ version }) => current.has(version))) return
    const versions = this.#known.map(({ version }) => version)
    this.#fail(
      `has the document ${versions.join(' or ')}, the store has ${[...current].join(', ')}`,
    )
  }

  get #stalledMs(): number {
    const { now } = this.#owner.world.timeline
    return stalledMs(this.#owner.machine, now - READ_EVERY_MS - READ_MS, now)
  }

  get #storeNow(): number {
    return this.#owner.world.cluster.clockOf('#')
  }

  /** Whether nothing has gone wrong for a while that keeps an answer away. */
  get #isQuiet(): boolean {
    const { plan, timeline } = this.#owner.world
    return plan.faults.every((fault) => {
      const endsAt = fault.at + ('ms' in fault ? (fault.ms ?? 0) : 0) + LOST_MS
      return isHarmless(fault) || fault.at > timeline.now || endsAt < timeline.now
    })
  }

  #fail(what: string): void {
    this.#owner.world.fail('in force', `${this.#owner.name} ${what}`)
  }
}

/** Whether a fault keeps no process from reading. */
function isHarmless(fault: Fault): boolean {
  return isOfOperator(fault) || ['kill', 'leave', 'reset key', 'process clock'].includes(fault.kind)
}

/** Whether a charge has these terms. */
function isBy({ limit: { params } }: Charge, { limit, burst = limit, maxDelay }: Terms): boolean {
  const isSameBurst = (params.burst ?? params.limit) === burst
  const isSameDelay = params.maxDelayMs === undefined || params.maxDelayMs === maxDelay
  return params.limit === limit && isSameBurst && isSameDelay
}

function textOf(terms: readonly Terms[]): string {
  return terms.map(({ limit, burst }) => (burst === undefined ? limit : `${limit}/${burst}`)).join()
}
