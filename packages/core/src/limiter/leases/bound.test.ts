import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type MemoryStore, memoryStore } from '../../stores/memory/memory-store.ts'
import type { Charge, Ledger, StoreResult } from '../../stores/store.ts'
import { manualClock } from '../../testing/index.ts'
import type { PolicyOptions } from '../options.generated.ts'
import { Policy } from '../policy.ts'
import { LeaseLedger } from './lease-ledger.ts'

const LEASE_MS = 1000
const WINDOW_MS = 10_000
/** How long a process waits for an answer, ms. */
const DEADLINE_MS = 200

/** How a call travels, ms. Without an answer the store still decides. */
interface Trip {
  readonly there: number
  readonly back: number
  readonly isLost: boolean
}

type Step =
  | {
      readonly kind: 'ask'
      readonly process: number
      readonly times: number
      readonly cost: number
    }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'end idle' | 'kill' | 'close'; readonly process: number }

interface Plan {
  readonly algorithm: 'fixed-window' | 'sliding-window' | 'sliding-log' | 'token-bucket'
  readonly limit: number
  readonly start: number
  readonly steps: readonly Step[]
  readonly trips: readonly Trip[]
}

/** Units that were admitted, and when. */
interface Use {
  readonly at: number
  readonly units: number
  readonly process: number
}

const process = fc.integer({ min: 0, max: 2 })
const ask = fc.record({
  kind: fc.constant('ask' as const),
  process,
  times: fc.integer({ min: 1, max: 12 }),
  cost: fc.constantFrom(1, 1, 1, 2, 5),
})
const passing = fc.record({
  kind: fc.constant('pass' as const),
  ms: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constantFrom(LEASE_MS, 1700, WINDOW_MS)),
})
const other = fc.record({
  kind: fc.constantFrom(
    'end idle' as const,
    'end idle' as const,
    'kill' as const,
    'close' as const,
  ),
  process,
})
const plan: fc.Arbitrary<Plan> = fc.record({
  algorithm: fc.constantFrom('fixed-window', 'sliding-window', 'sliding-log', 'token-bucket'),
  limit: fc.constantFrom(8, 40, 200),
  start: fc.integer({ min: 0, max: WINDOW_MS }),
  steps: fc.array(
    fc.oneof(
      { weight: 6, arbitrary: ask },
      { weight: 5, arbitrary: passing },
      { weight: 1, arbitrary: other },
    ),
    { minLength: 20, maxLength: 120 },
  ),
  trips: fc.array(
    fc.record({
      there: fc.constantFrom(0, 1, 5, 150),
      back: fc.constantFrom(0, 1, 20, 150, 900),
      isLost: fc.constantFrom(false, false, false, false, true),
    }),
    { minLength: 1, maxLength: 30 },
  ),
})

/** Plays a plan: three processes with a store behind a network, in virtual time. */
class World {
  readonly clock: ReturnType<typeof manualClock>
  readonly uses: Use[] = []
  readonly errors: unknown[] = []
  readonly #plan: Plan
  readonly #policy: Policy
  readonly #store: MemoryStore
  readonly #remote: Ledger<'sync'>
  readonly #processes: { ledger: LeaseLedger; isKilled: boolean }[]
  #events: { at: number; act: () => void }[] = []
  #trips = 0

  constructor(plan: Plan) {
    this.#plan = plan
    this.clock = manualClock(180_000_000 * WINDOW_MS + plan.start)
    const { algorithm, limit } = plan
    this.#policy = new Policy('', { algorithm, limit, window: WINDOW_MS } as PolicyOptions)
    this.#store = memoryStore({ clock: this.clock })
    this.#remote = this.#store.open([this.#policy.keyspace()], 'sluice')
    this.#processes = [0, 1, 2].map(() => {
      const process = { ledger: undefined as never as LeaseLedger, isKilled: false }
      process.ledger = new LeaseLedger(this.#network(process), LEASE_MS, this.clock)
      return process
    })
  }

  /** What the store counts as used now, units. */
  get counted(): number {
    const charge = { key: 'client', limit: this.#policy.limitFor(), cost: 0 }
    const [result] = this.#remote.decide([[charge]], true)
    const { remaining, excess = 0 } = (result as StoreResult).outcomes[0]!
    return this.#plan.limit - remaining + excess
  }

  async play(): Promise<void> {
    for (const step of this.#plan.steps) {
      if (step.kind === 'pass') await this.#pass(step.ms)
      else await this.#act(step)
    }
    await this.#pass(2 * WINDOW_MS)
  }

  close(): void {
    for (const process of this.#processes) {
      process.isKilled = true
      process.ledger.close()
    }
    this.#store.close()
  }

  async #act(step: Exclude<Step, { kind: 'pass' }>): Promise<void> {
    const process = this.#processes[step.process]!
    if (process.isKilled) return
    if (step.kind === 'ask') {
      for (let i = 0; i < step.times; i += 1) {
        this.#ask(step.process, step.cost)
        await this.#pass(1)
      }
    } else if (step.kind === 'kill') process.isKilled = true
    else if (step.kind === 'close') process.ledger.close()
    else process.ledger.endIdle()
  }

  #ask(number: number, cost: number): void {
    const { ledger } = this.#processes[number]!
    const charges: Charge[] = [{ key: 'client', limit: this.#policy.limitFor(), cost }]
    const askedAt = this.clock()
    const decided = ledger.decide([charges]).then(([decided]) => {
      const { admitted, source, at, outcomes } = decided as StoreResult
      if (!admitted) return
      expect(['store', 'lease']).toContain(source)
      // A lease answers at once; what the store admits is used when it decides.
      this.uses.push({ at: source === 'lease' ? askedAt : at, units: cost, process: number })
      if (source === 'lease') this.#checkRemaining(number, outcomes[0]!.remaining)
    })
    decided.catch((error) => this.errors.push(error))
  }

  /** In a fixed window nothing comes back, so no more can be left than what this process has not used. */
  #checkRemaining(process: number, remaining: number): void {
    const { algorithm, limit } = this.#plan
    if (algorithm !== 'fixed-window') return
    const window = Math.floor(this.clock() / WINDOW_MS)
    const own = this.uses.filter((use) => {
      return use.process === process && Math.floor(use.at / WINDOW_MS) === window
    })
    expect(remaining).toBeLessThanOrEqual(limit - unitsOf(own))
  }

  #network(process: { isKilled: boolean }): Ledger<'async'> {
    let lastArrival = 0
    const call = <T>(act: () => T, late: T): Promise<T> => {
      if (process.isKilled) return new Promise(() => {})
      const { there, back, isLost } = this.#plan.trips[this.#trips % this.#plan.trips.length]!
      this.#trips += 1
      const sentAt = this.clock()
      // Calls of a connection arrive in their order.
      lastArrival = Math.max(lastArrival, sentAt + there)
      return new Promise((answer) => {
        const answerUnlessKilled = (value: T) => {
          if (!process.isKilled) answer(value)
        }
        this.#at(lastArrival, () => {
          const value = act()
          if (!isLost) this.#at(this.clock() + back, () => answerUnlessKilled(value))
        })
        this.#at(sentAt + DEADLINE_MS, () => answerUnlessKilled(late))
      })
    }
    return {
      decide: (requests, isPeek) => {
        const asked = requests.map((charges) => charges.map((charge) => ({ ...charge })))
        const late = requests.map(() => {
          return { admitted: false, at: 0, source: 'deny', outcomes: [] } as const
        })
        return call<readonly (StoreResult | Error)[]>(
          () =>
            this.#remote.decide(asked, isPeek).map((each) => structuredCopy(each as StoreResult)),
          late,
        )
      },
      change: (change) => call(() => this.#remote.change(change), undefined),
    }
  }

  #at(at: number, act: () => void): void {
    this.#events.push({ at, act })
  }

  async #pass(ms: number): Promise<void> {
    const end = this.clock() + ms
    for (;;) {
      await settled()
      const due = this.#events.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (due === undefined) break
      this.#events = this.#events.filter((event) => event !== due)
      this.clock.set(Math.max(this.clock(), due.at))
      due.act()
    }
    this.clock.set(end)
  }
}

/** A memory ledger reuses the objects that it returns. */
function structuredCopy({ outcomes, ...result }: StoreResult): StoreResult {
  return { ...result, outcomes: outcomes.map((outcome) => ({ ...outcome })) }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 12; i += 1) await undefined
}

function unitsOf(uses: readonly Use[]): number {
  return uses.reduce((sum, { units }) => sum + units, 0)
}

/** The most that the algorithm admits in a span, units. */
function mostIn({ algorithm, limit }: Plan, spanMs: number): number {
  if (algorithm === 'token-bucket') return limit + Math.floor((limit * spanMs) / WINDOW_MS)
  const windows = Math.floor(spanMs / WINDOW_MS) + 1
  return algorithm === 'sliding-log' ? limit * windows : limit * (windows + 1)
}

function checkBound(plan: Plan, given: readonly Use[]): void {
  const uses = [...given].sort((a, b) => a.at - b.at)
  for (let first = 0; first < uses.length; first += 1) {
    let sum = 0
    for (let last = first; last < uses.length; last += 1) {
      sum += uses[last]!.units
      // From the first to the last of them, both included.
      const spanMs = uses[last]!.at - uses[first]!.at + 1
      const most = mostIn(plan, spanMs + LEASE_MS)
      if (sum > most) throw new Error(`${sum} units in ${spanMs} ms, ${most} at most`)
    }
  }
  if (plan.algorithm !== 'fixed-window' && plan.algorithm !== 'sliding-window') return
  const windows = new Map<number, number>()
  for (const { at, units } of uses) {
    const window = Math.floor(at / WINDOW_MS)
    windows.set(window, (windows.get(window) ?? 0) + units)
  }
  for (const units of windows.values()) expect(units).toBeLessThanOrEqual(plan.limit)
}

describe('leases of three processes', () => {
  it('admit at most what the algorithm admits in a span that is longer by a lease', async () => {
    let leased = 0
    await fc.assert(
      fc.asyncProperty(plan, async (given) => {
        const world = new World(given)
        try {
          await world.play()
          if (world.errors.length > 0) throw world.errors[0]
          checkBound(given, world.uses)
          leased += world.uses.length
        } finally {
          world.close()
        }
      }),
      { numRuns: 400 },
    )
    expect(leased).toBeGreaterThan(0)
  })
})
