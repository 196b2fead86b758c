import type { Algorithm, CompiledLimit, Outcome } from '../algorithms/algorithm.ts'

/** One policy's part of a decision: `cost` units of `key`, against `limit`. */
export interface Charge {
  key: string
  limit: CompiledLimit
  cost: number
}

/**
 * Who decided: the store; what is remembered of its refusals; this process by itself; or nobody,
 * and all are let through, or refused.
 */
export type DecisionSource = 'store' | 'cache' | 'local' | 'allow' | 'deny'

/** Who decided a charge, and when: ms on the clock of the store, or of the node that has its key. */
export interface Origin {
  readonly at: number
  readonly source: DecisionSource
}

/** What a store decided about all charges of a request together. */
export interface StoreResult {
  /** True if every charge was admitted, and so charged. Otherwise none was. */
  admitted: boolean
  /** The moment of the decision, ms on the store's clock. */
  at: number
  /** Who decided. */
  source: DecisionSource
  /** In the order of the charges; none if it was not by their quotas that it was decided. */
  outcomes: readonly Outcome[]
  /** Where keys are decided apart (see `Ledger.part`): who decided each charge, in their order. */
  origins?: readonly Origin[]
}

/**
 * The states of some limiter's keys, one space of keys for each of its policies. Charges and keys
 * come in the order of the spaces that the ledger was opened with.
 *
 * A store runs whatever quota it is handed, in its TypeScript form (`CompiledLimit.decide`) or in its Lua
 * form (`Algorithm.lua`), and knows none of them by name.
 */
export interface Ledger<M extends StoreMode = StoreMode> {
  /**
   * Decides all charges together, atomically: if one is refused, none is made. Reads the charges
   * before it returns, so the caller may use the objects again. What a synchronous ledger
   * returns is valid until the next call.
   */
  consume(charges: readonly Charge[]): Answer<M, StoreResult>
  /**
   * Decides several requests in one call, in order, as `consume` decides each. An error in place of
   * a result concerns that request alone. Left out: each request is a call of its own.
   */
  consumeAll?(requests: readonly (readonly Charge[])[]): Answer<M, readonly (StoreResult | Error)[]>
  /** What `consume` would decide, without changing anything. */
  peek(charges: readonly Charge[]): Answer<M, StoreResult>
  /**
   * Corrects what was charged at `chargedAt` (ms on the store's clock, default now) by the costs
   * of the charges, which may be negative here. See `CompiledLimit.settle`.
   *
   * @param source who admitted the charges, and so has to correct them. Default: `'store'`
   */
  settle(charges: readonly Charge[], chargedAt?: number, source?: DecisionSource): Answer<M, void>
  /**
   * As `settle`, to see whether the store works: it writes whatever the charges are, and fails,
   * without having charged anything, where any decision could. Left out: `settle` is as good.
   */
  probe?(charges: readonly Charge[]): Answer<M, void>
  /** Refuses every charge of the keys for so many ms; then their quota is whole. */
  block(keys: readonly string[], durationMs: number): Answer<M, void>
  /** Makes the quota of the keys whole. */
  reset(keys: readonly string[]): Answer<M, void>
  /**
   * Where the store decides keys apart from one another, and parts of it can fail on their own (the
   * slots and the masters of a cluster): a number, 0 … 15, that is the same for keys which fail
   * together. All charges of a call are of the same key then. Left out: the store decides, and
   * fails, as a whole.
   */
  readonly part?: ((key: string) => number) | undefined
}

/** The keys of one policy. */
export interface Keyspace {
  /** Sets them apart from every other policy's in the store. */
  readonly name: string
  /** Whose states they hold. */
  readonly algorithm: Algorithm
}

/** Where states are kept. Limiters that open the same space in the same store share its states. */
export interface Store<M extends StoreMode = StoreMode> {
  /** Remote stores answer by promises, and may fail. */
  readonly mode: M
  /** Its clock, integer ms since the epoch, where that was injected. */
  readonly clock?: (() => number) | undefined
  /** @param prefix namespace of the keys, `[A-Za-z0-9._:-]{1,64}` */
  open(keyspaces: readonly Keyspace[], prefix: string): Ledger<M>
  /** Ends what the store itself has started. Clients that were handed over stay open. */
  close(): void
}

/** Whether a store answers at once or by a promise. */
export type StoreMode = 'sync' | 'async'

export type Answer<M extends StoreMode, T> = { sync: T; async: Promise<T> }[M]
