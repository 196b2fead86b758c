import { channel, tracingChannel } from '#platform'
import type { Unit } from './options/unit.ts'
import type { Events, Traces } from './platform/platform.ts'
import type { PolicySettings } from './stores/documents/policy-document.ts'
import type { DecisionSource } from './stores/store.ts'

/** The fields of every event of a limiter. */
export interface LimiterEvent {
  /** The option `name` of the limiter; undefined if it has none. */
  readonly limiter: string | undefined
  /**
   * The pattern of the request's route, such as `/users/:id`: the framework's, if it is known when
   * the request is decided, otherwise that of the entry in `routes`. Undefined if neither is known.
   */
  readonly route: string | undefined
}

/** One policy's part of a decision. */
export interface PolicyEvent {
  /** The name of the policy. */
  readonly name: string
  /** The unit it counts: the option `unit`, or `'concurrent-requests'`. */
  readonly unit: Unit
  /** False if this policy refuses, or would. */
  readonly allowed: boolean
  /** Whether it is a dry run (the policy's `dryRun` or `enforce`). */
  readonly dryRun: boolean
  /** Units of the full quota. */
  readonly limit: number
  /** Whole units that would still be admitted. */
  readonly remaining: number
  /** Units that the request was charged; 0 if it was refused. */
  readonly charged: number
  /** The source of the decision for this policy. */
  readonly source: DecisionSource
}

/** `sluice:decision`: a limiter has decided a request. */
export interface DecisionEvent extends LimiterEvent {
  /**
   * - `'admitted'`, `'refused'`: by the policies, the option `deny` or the option `onStoreError`
   * - `'would_refuse'`: a dry run lets it continue: that of the limiter, or of a policy (`dryRun`, `enforce`)
   * - `'skipped'`: it is neither limited nor counted
   */
  readonly result: 'admitted' | 'refused' | 'would_refuse' | 'skipped'
  /** False if it is refused, or would be. */
  readonly allowed: boolean
  /**
   * The source, as in `Decision.source`; or `'list'`, the options `allow` and `deny`; `'skip'`, the
   * option `skip`; `'preflight'`, because it is a CORS preflight.
   */
  readonly source: DecisionSource | 'list' | 'skip' | 'preflight'
  /**
   * The name of the binding policy: for a refusal, the one with the longest wait; otherwise the one
   * with the least remaining. If only dry runs would refuse, the one of these with the longest
   * wait. Undefined if no policy decided.
   */
  readonly policy: string | undefined
  /** The result of each policy, in their order. Empty if no policy decided. */
  readonly policies: readonly PolicyEvent[]
  /**
   * Units of the binding policy's full quota. `Infinity` (admitted) or 0 (refused) if no policy
   * decided.
   */
  readonly limit: number
  /** Whole units that the binding policy would still admit. `Infinity` or 0 if no policy decided. */
  readonly remaining: number
  /** The time until the binding policy's quota is full again, ms. */
  readonly resetMs: number
  /** 0 if allowed, otherwise the shortest sufficient wait, ms. `Infinity` if no wait is enough. */
  readonly retryAfterMs: number
  /** Leaky bucket: how long the request must wait for its turn, ms. */
  readonly delayMs: number
  /** How long the decision took, including the store's reply, ms. 0 if no policy decided. */
  readonly durationMs: number
  /** Whether the client is banned (the option `ban`). */
  readonly banned: boolean
  /**
   * In a refusal with the option `keySecret`, the HMAC of the key that the binding policy refuses. Otherwise
   * undefined.
   */
  readonly keyHash: string | undefined
}

/** How the charge of one policy was corrected. */
export interface SettledPolicyEvent {
  /** The name of the policy. */
  readonly name: string
  /** The unit it counts: the option `unit`, or `'concurrent-requests'`. */
  readonly unit: Unit
  /** Charged in addition; negative: given back. */
  readonly units: number
}

/** `sluice:settle`: charges were corrected, or slots given back. */
export interface SettleEvent extends LimiterEvent {
  /**
   * - `'cost'`: the cost has become known, or the application called `settle`
   * - `'released'`: a request in progress has ended
   * - `'abandoned'`: its client has left, and the application has not ended it; the store frees its
   *   slot after the option `hold`
   */
  readonly reason: 'cost' | 'released' | 'abandoned'
  /** The policies whose charge was corrected. */
  readonly policies: readonly SettledPolicyEvent[]
  /**
   * The code of the error, if the store did not confirm it. A slot is published as released before
   * that is known.
   */
  readonly errorType: string | undefined
}

/** `sluice:store`: a remote store has failed, or has recovered. */
export interface StoreEvent {
  /**
   * The number of the store in this process, 1, 2, 3 …: limiters with another `deadline` have
   * another number.
   */
  readonly store: number
  /**
   * - `'down'`: it is not used until it recovers. Published again if its setup can never work
   * - `'up'`: it has recovered
   * - `'closed'`: it was down, and its last limiter was closed
   */
  readonly state: 'down' | 'up' | 'closed'
  /** If the state is `'down'`, the error of the store or of its client. */
  readonly reason: string | undefined
  /** If the state is `'down'`, the code of the error, or else its name: `'ECONNREFUSED'`, `'DeadlineError'`. */
  readonly errorType: string | undefined
}

/** `sluice:ban`: this refusal bans a client. */
export interface BanEvent extends LimiterEvent {
  /** How long the ban lasts from now on, ms. */
  readonly endsMs: number
  /** Whether it is the ban of a dry run (the option `dryRun`), which refuses nothing. */
  readonly dryRun: boolean
  /** The HMAC of the key, with the option `keySecret`. Otherwise undefined. */
  readonly keyHash: string | undefined
}

/**
 * `sluice:threshold`: a charge has brought a key to a share of its limit (the option `alertAt`). It
 * is the only event with the key, which identifies the client.
 */
export interface ThresholdEvent extends LimiterEvent {
  /** The name of the policy. */
  readonly policy: string
  /** The unit it counts: the option `unit`, or `'concurrent-requests'`. */
  readonly unit: Unit
  /** The key that was charged, as it was passed to the limiter. */
  readonly key: string
  /** The share that was reached, as in `alertAt`. */
  readonly threshold: number
  /** Units in use with this charge; never more than `limit`. */
  readonly used: number
  /**
   * Units of the full quota that decided this charge: for a leaky bucket, the size of its queue;
   * for a process that decides on its own, its local share.
   */
  readonly limit: number
  /**
   * When the current window ends, ms since the epoch on the store's clock. It identifies the
   * window: a fixed or calendar window, or the current half of a sliding window. For other
   * algorithms: a span as long as the window, aligned to the epoch.
   */
  readonly windowEndsAt: number
  /** When it was charged, ms on the store's clock. */
  readonly at: number
  /** The source of the charge. */
  readonly source: DecisionSource
}

/**
 * `sluice:policy`: a process has applied the settings of a live policy (the option `live`). It is
 * first published when the process knows whether the store has any.
 */
export interface PolicyChangeEvent {
  /** The option `name` of the limiter; undefined if it has none. */
  readonly limiter: string | undefined
  /** The name of the policy. */
  readonly policy: string
  /** Its name in documents, made of the names of the limiter, the policy and the route. */
  readonly id: string
  /** The unit it counts: the option `unit`, or `'concurrent-requests'`. */
  readonly unit: Unit
  /** Units per window from now on; undefined if that is a function of the request. */
  readonly limit: number | undefined
  /** Units per window until now; undefined if that was a function of the request. */
  readonly before: number | undefined
  /** Units per window in the code; undefined if that is a function of the request. */
  readonly codeLimit: number | undefined
  /** The share of the clients that it refuses, 0 … 1. */
  readonly enforced: number
  /** Where the settings come from: a document, or the options alone. */
  readonly source: 'document' | 'code'
  /** The settings that replace options. */
  readonly settings: PolicySettings
  /** When, ms on the store's clock. */
  readonly at: number
}

/** Counts of one class's requests. */
export interface OverloadClassEvent {
  /** Requests that began, at once or after a wait. */
  readonly admitted: number
  /** How many of the admitted waited. */
  readonly waited: number
  /** Requests that were refused. */
  readonly shed: number
}

/**
 * `sluice:overload`: what a load shedder (`shedLoad`) has done since its last event. It is published about once a
 * second while there are requests, and when the first request is shed.
 */
export interface OverloadEvent {
  /** The option `name` of the load shedder; undefined if it has none. */
  readonly limiter: string | undefined
  /** Whether requests are being shed. */
  readonly shedding: boolean
  /**
   * The signal because of which requests are shed:
   *
   * - `'latency'`: requests take longer the more are in progress
   * - `'event-loop-utilization'`: the event loop has no time left
   * - `'event-loop-delay'`: the event loop is late by more than 100 ms
   * - `'heap'`: the heap is nearly full
   */
  readonly signal: 'latency' | 'event-loop-utilization' | 'event-loop-delay' | 'heap' | undefined
  /** The most requests that may be in progress now. */
  readonly limit: number
  /** Requests in progress. */
  readonly active: number
  /** Waiting requests. */
  readonly waiting: number
  /** How long a request may wait at present, ms. */
  readonly maxWaitMs: number
  /** The share of time in which the event loop was busy. */
  readonly utilization: number
  /** How late the event loop's last timer was, ms. */
  readonly delayMs: number
  /** The share of the heap's limit that is in use. */
  readonly heap: number
  /** Counts of each class, in the order of importance. */
  readonly classes: Readonly<Record<string, OverloadClassEvent>>
}

/** The context of `tracing:sluice:consume`: policies decide a request. */
export interface ConsumeTrace extends LimiterEvent {
  /** The names of the policies. */
  readonly policies: readonly string[]
  /** Set when it is decided. */
  result?: Pick<DecisionEvent, 'allowed' | 'source' | 'policy'>
}

/** The context of `tracing:sluice:wait`: an admitted request waits for its turn in a leaky bucket. */
export interface WaitTrace extends LimiterEvent {
  /** The policy with the longest delay. */
  readonly policy: string
  /** How long it will wait, ms. */
  readonly delayMs: number
  /** Set at the end: whether its turn came. False if its client left first. */
  result?: boolean
}

export const decisionEvents: Events<DecisionEvent> = channel('sluice:decision')
export const settleEvents: Events<SettleEvent> = channel('sluice:settle')
export const storeEvents: Events<StoreEvent> = channel('sluice:store')
export const banEvents: Events<BanEvent> = channel('sluice:ban')
export const thresholdEvents: Events<ThresholdEvent> = channel('sluice:threshold')
export const policyEvents: Events<PolicyChangeEvent> = channel('sluice:policy')
export const overloadEvents: Events<OverloadEvent> = channel('sluice:overload')
export const consumeTraces: Traces<ConsumeTrace> = tracingChannel('sluice:consume')
export const waitTraces: Traces<WaitTrace> = tracingChannel('sluice:wait')
