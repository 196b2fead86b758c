import type { AlgorithmName, Charge, Ledger, Store, StoreResult } from '@sluice/core'
import { algorithms } from '@sluice/core/algorithms'
import { type CompiledLimit, type Outcome, withRefusals } from '@sluice/core/store'
import { type LedgerVerbs, type ManualClock, manualClock, withVerbs } from '@sluice/core/testing'
import type { Runner } from '../runner.ts'

/** The store under test. */
export interface StoreKit<S extends Store = Store> {
  /** Whether it answers synchronously or with promises. */
  readonly mode: 'sync' | 'async'
  /** Whether it can list its keys: `Store.inspect`. Default: no */
  readonly inspects?: boolean
  /** Whether it can keep what all processes share besides states: `Store.documents`. Default: yes */
  readonly documents?: boolean
  /** A store that decides on this clock. Called for each test; stores may share their states. */
  create(clock: () => number): S | Promise<S>
  /**
   * Makes every write and deletion of keys that contain this text fail, until the function that it
   * returns is called. Left out: the suite does not check that a call that fails changes nothing.
   */
  failWrites?(store: S, text: string): Undo | Promise<Undo>
  /**
   * Lets the store delete what has expired on its clock, and returns how many keys that contain this
   * text are left. Left out: the suite does not check that keys expire.
   */
  countLeft?(store: S, text: string): number | Promise<number>
}

/** Ends a fault. */
export type Undo = () => unknown

/** Every quota of the suite holds so many units when whole, in whichever algorithm. */
export const LIMIT = 5
export const WINDOW = 10_000

export const algorithmNames = Object.keys(algorithms) as AlgorithmName[]

/** `LIMIT` per `WINDOW`. The leaky bucket's queue is as long as makes it hold just as much. */
export function limitOf(name: AlgorithmName): CompiledLimit {
  const maxDelayMs = (WINDOW / LIMIT) * (LIMIT - 1)
  return algorithms[name].compile({ limit: LIMIT, windowMs: WINDOW, maxDelayMs })
}

/** A new store for one test, with the ledgers that the test opens. */
export interface Bench {
  readonly store: Store
  readonly clock: ManualClock
  /** Text that the names of its keys contain. */
  readonly prefix: string
  /** Deletes what has expired, where the kit can. */
  sweep(): Promise<void>
  /** A bench with the same keys, on a store of its own, which may share their states. */
  another(): Promise<Bench>
  /** The bench of one limiter: a policy for each quota, in spaces named p0, p1, … and a ban named ban. */
  open(
    limits: readonly CompiledLimit[],
    options?: { space?: string; prefix?: string; ban?: CompiledLimit },
  ): Rig
}

/** A ledger, called with one key and one cost for all of its policies. */
export interface Rig {
  readonly ledger: LedgerVerbs
  charges(key: string, cost: number): Charge[]
  /** The charges, and behind them that of what counts their refusals, if the ledger has that. */
  counted(charges: readonly Charge[], cost?: number): readonly Charge[]
  consume(key: string, cost?: number): Promise<StoreResult>
  peek(key: string, cost?: number): Promise<StoreResult>
  /** @param remaining what remained after the charge, in every policy */
  settle(key: string, delta: number, chargedAt?: number, remaining?: number): Promise<void>
  block(key: string, durationMs: number): Promise<void>
  reset(key: string): Promise<void>
  /** The remaining units of each policy. */
  remaining(key: string): Promise<number[]>
}

/** The runner for one kit: every test gets a bench whose keys no other test has touched. */
export interface StoreTests {
  readonly describe: (name: string, define: () => void) => void
  readonly test: (name: string, run: (bench: Bench) => Promise<void>) => void
}

let benches = 0

export function storeTests(runner: Runner, kit: StoreKit): StoreTests {
  return {
    describe: (name, define) => void runner.describe(name, define),
    test: (name, run) =>
      void runner.test(name, async () => {
        const clock = manualClock()
        const stores: Store[] = []
        benches += 1
        const prefix = `test-${process.pid}-${benches}`
        const create = async () => {
          const store = await kit.create(clock)
          stores.push(store)
          return benchOf(store, clock, prefix, create, kit)
        }
        try {
          await run(await create())
        } finally {
          for (const store of stores) store.close()
        }
      }),
  }
}

function benchOf(
  store: Store,
  clock: ManualClock,
  own: string,
  another: () => Promise<Bench>,
  kit: StoreKit,
): Bench {
  return {
    store,
    clock,
    prefix: own,
    sweep: async () => {
      await kit.countLeft?.(store, own)
    },
    another,
    open: (limits, { space = 'p', prefix = '', ban: limit } = {}) => {
      const policies = limits.map(({ algorithm }, i) => ({ name: `${space}${i}`, algorithm }))
      const ban = limit === undefined ? [] : [{ name: 'ban', algorithm: limit.algorithm, limit }]
      return rig(store.open([...policies, ...ban], own + prefix), limits, limit)
    },
  }
}

/** @param ban what counts the refusals of requests */
function rig(opened: Ledger, limits: readonly CompiledLimit[], ban?: CompiledLimit): Rig {
  const ledger = withVerbs(opened)
  const counted = (charges: readonly Charge[], cost = 1) =>
    ban === undefined ? charges : withRefusals(charges, ban, cost)
  const charges = (key: string, cost: number) => limits.map((limit) => ({ key, limit, cost }))
  return {
    ledger,
    charges,
    counted,
    consume: async (key, cost = 1) => copied(ledger.consume(counted(charges(key, cost)))),
    peek: async (key, cost = 0) => copied(ledger.peek(counted(charges(key, cost), 0))),
    settle: async (key, delta, chargedAt, remaining) => {
      const corrected = charges(key, delta).map((charge) => {
        const { placeOf } = charge.limit
        return remaining === undefined ? charge : { ...charge, claim: placeOf?.(remaining) }
      })
      await ledger.settle(corrected, chargedAt)
    },
    block: async (key, durationMs) => {
      await ledger.block(key, durationMs)
    },
    reset: async (key) => {
      await ledger.reset(key)
    },
    remaining: async (key) => {
      const { outcomes } = await ledger.peek(charges(key, 0))
      return outcomes.map(({ remaining }) => remaining)
    },
  }
}

/** Copies a synchronous result before anything else is asked. */
async function copied(result: StoreResult | Promise<StoreResult>): Promise<StoreResult> {
  return copy(result instanceof Promise ? await result : result)
}

/** Copies the result of a synchronous ledger, which the next call may overwrite. */
export function copy({ outcomes, ...result }: StoreResult): StoreResult {
  return { ...result, outcomes: outcomes.map(copyOutcome) }
}

function copyOutcome(outcome: Outcome): Outcome {
  const { admitted, remaining, resetMs, retryAfterMs, effectiveMs, delayMs } = outcome
  return { admitted, remaining, resetMs, retryAfterMs, effectiveMs, delayMs }
}
