import type {
  Algorithm,
  AlgorithmParams,
  Claim,
  CompiledLimit,
  Grant,
  Outcome,
  Override,
} from '../algorithms/algorithm.ts'

/** One policy's part of a decision: `cost` units of `key`, against `limit`. */
export interface Charge {
  key: string
  limit: CompiledLimit
  cost: number
  /** The numbers of the limit's own, where it has some: a store passes them on. What is claimed may come back at any time. */
  claim?: Claim | undefined
}

/** Requests, each with one charge for each policy. */
export type Requests = readonly (readonly Charge[])[]

/**
 * The source of a decision: the store; a remembered refusal; units that the store charged to this
 * process in advance; this process; or none, so that all requests are admitted, or all refused.
 */
export type DecisionSource = 'store' | 'cache' | 'lease' | 'local' | 'allow' | 'deny'

/** The source of a charge, and its time: ms on the clock of the store, or of the node that has its key. */
export interface Origin {
  readonly at: number
  readonly source: DecisionSource
}

/** An additional charge by a settlement. */
export interface ChargeIncrease {
  /** Index of the charge. */
  readonly place: number
  /** Units that the quota holds when it is full, as decisions call it: the client's own limit, if it has one. */
  readonly limit: number
  /** Whole units that remained before. */
  readonly before: number
  /** Whole units that remain. */
  readonly remaining: number
  /** Units in use beyond the limit. Left out: none */
  readonly excess?: number | undefined
  /** The time until the quota is full again, ms. */
  readonly resetMs: number
  /** When, ms on the clock of the store, or of the node that has the key. */
  readonly at: number
}

/** Called with a charge after whose settlement less remains. */
export type OnIncrease = (increase: ChargeIncrease) => void

/** The decision of a store about all charges of a request together. */
export interface StoreResult {
  /** True if every charge was admitted, and so made. Otherwise none was made. */
  admitted: boolean
  /** The moment of the decision, ms on the store's clock. */
  at: number
  /** The source of the decision. */
  source: DecisionSource
  /** The outcomes in the order of the charges; empty if quotas did not decide. */
  outcomes: readonly Outcome[]
  /** If keys are decided separately (see `Ledger.shard`): who decided each charge, in their order. */
  origins?: readonly Origin[]
}

/**
 * The states of a limiter's keys, with one keyspace for each of its policies. Charges come in the order
 * of the keyspaces that the ledger was opened with.
 *
 * Charges belong to the caller, who leaves them unchanged until the ledger has answered and may use
 * them again then. A ledger changes none, and looks at none after its answer.
 *
 * Calls about the same key happen in the order in which they were made, also if the first is not answered yet.
 *
 * A store runs any limit that it is given, in its TypeScript form (`CompiledLimit.decide`) or in its Lua
 * form (`Algorithm.lua`), and knows none of them by name.
 */
export interface Ledger<M extends StoreMode = StoreMode> {
  /**
   * Decides requests in their order, each on what those before it have left. All charges of one are decided
   * together, atomically: if one is refused, none is made. An error in place of a result concerns only that
   * request. What a synchronous ledger returns is valid until the next call.
   *
   * @param isPeek whether nothing is written: the results are those that the requests would get now
   */
  decide(requests: Requests, isPeek?: boolean): Answer<M, readonly (StoreResult | Error)[]>
  /**
   * Makes a change. `applyChange` has the rules, for every kind.
   *
   * @param raised called once for each charge after whose settlement less remains, when it is kept, before the
   *   answer. Given only where it matters: a store may have to read more
   * @returns what became of a top-up; undefined for any other change
   */
  change(change: Change, onIncrease?: OnIncrease): Answer<M, GrantResult | undefined>
  /**
   * If the store decides keys separately, and shards of it can fail separately (the hash slots and masters
   * of a cluster): a number, 0 … 15, that is the same for keys which fail together. Then all charges
   * of a call have the same key, or the same `{shard}` before their keys. Left out: the store decides, and fails, as a whole.
   */
  readonly shard?: ((key: string) => number) | undefined
}

/** A change to states besides decisions. */
export type Change =
  | SettleChange
  | RenewChange
  | BlockChange
  | ResetChange
  | OverrideChange
  | GrantChange

/** Corrects charges by their costs, which may be negative here. See `CompiledLimit.settle`. */
export interface SettleChange {
  readonly kind: 'settle'
  readonly charges: readonly Charge[]
  /** When they were charged, ms on the store's clock. Default: now */
  readonly chargedAt?: number | undefined
  /** The source of the charges, which corrects them too. Default: `'store'` */
  readonly source?: DecisionSource | undefined
  /** Whether it is made again, because the store has not confirmed it: this process has counted it. */
  readonly isRepeated?: boolean | undefined
  /**
   * Also shows whether the store works: it writes for any charges, and fails, without a charge, whenever a
   * decision could fail. A store whose settlements do so anyway ignores it.
   */
  readonly isProbe?: boolean | undefined
}

/**
 * Holds what several requests claim for as long as if it were taken now: see `CompiledLimit.renew`. A key that is blocked
 * or can't be read is left as it is, and so is every charge without a claim.
 */
export interface RenewChange {
  readonly kind: 'renew'
  readonly requests: Requests
}

/** Refuses every charge of the key, in all keyspaces, for `durationMs`; then its quotas are full. */
export interface BlockChange {
  readonly kind: 'block'
  readonly key: string
  readonly durationMs: number
}

/** Makes the quotas of the key full. */
export interface ResetChange {
  readonly kind: 'reset'
  readonly key: string
}

/**
 * Gives a key an own limit in one policy, in place of the one that it may have, or ends that. It applies from the
 * next decision on, in every process, until it ends, and outlives everything that happens to the count:
 * the count stays as it is.
 */
export interface OverrideChange {
  readonly kind: 'override'
  /** The number of the keyspace, from 0. */
  readonly policy: number
  readonly key: string
  /** The limit of the policy; any limit of the keyspace if that varies. */
  readonly limit: CompiledLimit
  /** Undefined: the limit is the policy's again. */
  readonly override: Override | undefined
}

/** Adds units to the limit of a key, whatever that is, until they end. */
export interface GrantChange {
  readonly kind: 'grant'
  /** The number of the keyspace, from 0. */
  readonly policy: number
  readonly key: string
  /** As for an override; its algorithm takes top-ups (`CompiledLimit.grantEnd`). */
  readonly limit: CompiledLimit
  readonly grant: GivenGrant
}

/** A top-up; without an end of its own, it ends with the present window. */
export type GivenGrant = Omit<Grant, 'until'> & { readonly until: number | undefined }

/**
 * The result of a top-up: nothing is added if its id is known, if the key has as many as it may, if the limit would
 * be larger than the algorithm's largest, or if it has ended by the store's clock.
 */
export type GrantResult = 'granted' | 'known' | 'too many' | 'too much' | 'ended'

/** The keys of one policy. */
export interface Keyspace {
  /** Separates them from those of every other policy in the store. */
  readonly name: string
  /** The algorithm of their states. */
  readonly algorithm: Algorithm
  /**
   * Namespace of its keys, in place of that of the ledger: the bans of a limiter hold in the ledgers of all
   * of its routes. Default: the prefix that the ledger was opened with
   */
  readonly prefix?: string | undefined
  /** The limit of its charges, where that is the same for all of them. A store may prepare for it. */
  readonly limit?: CompiledLimit | undefined
  /** The parameters of its limits, where they are the same for all of them, for `Store.inspect`. */
  readonly params?: AlgorithmParams | undefined
  /** Where documents may change its limits: the name of the policy, encoded, and the least and the most units. */
  readonly live?: string | undefined
  /** True of one that `inspect` has found: who opens it knows less of its limits than the limiter that has it. */
  readonly isFound?: true
}

/**
 * Texts that all processes share and replace only as a whole, each under a prefix and a name of `[a-z]{1,32}`: which
 * networks are blocked (`networks`), which keyspaces there are (`keyspaces`), what the settings of live policies are
 * (`policies`). At most 600,000 characters of printable
 * ASCII and line ends. A text begins with a version, 16 characters that no other text of the prefix and name begins
 * with; '' is the version of the empty text, which is what there is at first.
 */
export interface Documents<M extends StoreMode = StoreMode> {
  /**
   * Reads a text; `at` is when, ms on the store's clock.
   *
   * @param known the version of the caller's text: if there is no other, `text` may be undefined in place of it
   */
  read(
    prefix: string,
    name: string,
    known: string,
  ): Answer<M, { readonly text: string | undefined; readonly at: number }>
  /**
   * Replaces a text, if its version is still `known`, by one that may be forgotten after `ttlMs`.
   *
   * @returns whether it did
   */
  replace(
    prefix: string,
    name: string,
    known: string,
    text: string,
    ttlMs: number,
  ): Answer<M, boolean>
}

/** Where states are kept. Limiters that open the same keyspace in the same store share its states. */
export interface Store<M extends StoreMode = StoreMode> {
  /** Remote stores answer with promises, and may fail. */
  readonly mode: M
  /** The store's clock, integer ms since the epoch, if it was injected. */
  readonly clock?: (() => number) | undefined
  /**
   * @param prefix namespace of the keys, `[A-Za-z0-9._:-]{1,64}`, unless a keyspace has its own
   * @param deadlineMs how long the limiter waits for an answer, ms, 1 … 60,000: work that takes longer
   *   may be abandoned. Undefined: no limit
   */
  open(keyspaces: readonly Keyspace[], prefix: string, deadlineMs?: number): Ledger<M>
  /**
   * Lists its keys, for operators. It reads in small steps, so that requests are not delayed, and
   * changes nothing. Keys that exist throughout come at least once; keys that come or go meanwhile
   * may be missing, and a key may come twice. Left out: the store can't list its keys.
   *
   * @throws SluiceError if an option is wrong
   */
  inspect?(options?: InspectOptions): AsyncIterable<StoreEntry>
  /**
   * Where it keeps what all processes share besides states. Left out: blocking a network is an error, and a client's
   * own limit, block or reset concerns only the windows and algorithms that the process which makes it has.
   */
  readonly documents?: Documents<M> | undefined
  /** Why it may not answer, as far as its client knows, in words: `not connected to cache:6379`. Undefined: not known. */
  trouble?(): string | undefined
  /** Releases the clients and timers that the store itself has opened. Clients that were passed to it stay open. */
  close(): void
}

/** A store that can list its keys. */
export interface InspectableStore<M extends StoreMode = StoreMode> extends Store<M> {
  inspect(options?: InspectOptions): AsyncIterable<StoreEntry>
}

/** Which keys of a store to list. */
export interface InspectOptions {
  /**
   * Namespace of the keys, as the limiters have it, with those of further limiters (`sluice.2`) and of
   * routes. Default: `'sluice'`
   */
  readonly prefix?: string | undefined
  /** Lists only keys of policies of this name. Default: all */
  readonly policy?: string | undefined
  /**
   * Lists only keys of this client: the key as the limiter was given it. Without a shard, those in all shards too;
   * the memory store can't find those of more than 256 characters. Default: all
   */
  readonly key?: string | undefined
  /**
   * One key, or a few, of each keyspace: which policies there are. The states of the others are not read,
   * which takes a fraction of the time. Default: `false`, all keys
   */
  readonly onePerKeyspace?: boolean | undefined
  /** Called after each step of the reading, also where the step has found nothing. */
  readonly onProgress?: ((progress: InspectProgress) => void) | undefined
}

/** How far the reading of a store is. */
export interface InspectProgress {
  /** Keys of the store that it has looked at so far, of limiters or not: about as many, on Redis. */
  readonly looked: number
  /**
   * Keys under the prefix that it has passed over in this step, because their names or states are none
   * that a limiter of this version writes.
   */
  readonly unreadable: readonly string[]
}

/** A key's state in one policy when it was read, as `peek` shows it. */
export interface StoreEntry {
  /**
   * Namespace: that of the limiter, followed by `.2` and so on for a further one in Fastify, and by `.` and
   * 8 hex digits for a route with limits of its own.
   */
  readonly prefix: string
  /** `store.open([keyspace], prefix)` opens the ledger that has it. */
  readonly keyspace: Keyspace
  /** The name of the policy; of a ban, that of the limiter's first policy. */
  readonly policy: string
  /** ms; of a ban, the window in which refusals are counted. 0: it counts slots, which have no window. */
  readonly windowMs: number
  /** Whether it is a ban that a dry run has counted, which refuses nothing. */
  readonly dryRun: boolean
  /** The client's key, or its digest. */
  readonly key: string
  /**
   * Whether `key` is a digest, which the store keeps instead of a key that is long or has unusual
   * characters. It does not reveal the key: find it with `inspect({ key })`.
   */
  readonly isDigest: boolean
  /** When it was read, ms on the store's clock. */
  readonly at: number
  /**
   * The most that the quota holds, units; of a ban, the refusals that lead to it. Undefined if the limit is a
   * function of the request: the store does not keep what it returned.
   */
  readonly limit: number | undefined
  /**
   * The amount in use, a debt included: units, the slots of requests in progress, or the refusals that were counted.
   * Undefined if that can't be told: of a key that is blocked, and of a bucket whose limit is a function
   * of the request.
   */
  readonly used: number | undefined
  /** Undefined if the limit is. */
  readonly remaining: number | undefined
  /** The time until the quota is full again, ms. Undefined if it can't be known. */
  readonly resetMs: number | undefined
  /**
   * The client's own limit, units, and when it ends, ms since the epoch; undefined: when it is ended. Undefined:
   * it has none
   */
  readonly override: { readonly limit: number; readonly until: number | undefined } | undefined
  /** The units that top-ups have added, which are part of `limit`. */
  readonly granted: number
  /** The time until a block of the key ends, ms. 0: it is not blocked. */
  readonly blockedMs: number
  /** The time until its ban ends, ms. 0: it is not banned. */
  readonly bannedMs: number
}

/** Whether a store answers synchronously or with a promise. */
export type StoreMode = 'sync' | 'async'

export type Answer<M extends StoreMode, T> = { sync: T; async: Promise<T> }[M]
