import type { AlgorithmName } from '@sluice/core'
import type { CalendarName } from './calendars.ts'

/** The most that documents set of a bucket: units, and ms. */
export const MOST_BURST = 12
export const MOST_DELAY_MS = 1000

/** A policy of the application. Times are ms. */
export type PlannedPolicy = {
  readonly name: string
  /** Whether requests cost what they turn out to cost. */
  readonly settles?: boolean
  /** Whose quota it is. Default: the client's own */
  readonly level?: 'organisation'
  /** It is the only policy of a route, which counts separately. Such a policy is the last one. */
  readonly isOfRoute?: true
  /** The shares of its limit that cause events. */
  readonly alertAt?: readonly number[]
  /** It counts, and refuses nobody; or it refuses a share of its clients, 0 … 1. */
  readonly dryRun?: true
  readonly enforce?: number
  /** Documents in the store may change it: within these bounds. */
  readonly live?: true | { readonly limit: { readonly min?: number; readonly max?: number } }
} & (
  | {
      readonly algorithm: AlgorithmName
      readonly limit: number
      readonly window: number
      /** The other lengths that its window may have: it is a function of the request, and each has its own quota. */
      readonly windows?: readonly number[]
      /** Its windows are those of a calendar. */
      readonly calendar?: CalendarName
      /** The day on which they begin is a function of the request. */
      readonly anchors?: true
      readonly burst?: number
      readonly maxDelay?: number
      /** What it charges is an estimate, which ends with its process: how long it is held. */
      readonly reserveMs?: number
    }
  | { readonly concurrent: number; readonly hold: number }
)

/** When clients are banned, and for how long, ms. */
export interface PlannedBan {
  readonly after: number
  readonly within: number
  readonly for: readonly number[]
}

/** A call of a limiter's method. */
export interface PlannedCall {
  readonly kind: 'consume' | 'peek' | 'override' | 'grant' | 'settle'
  readonly units: number
}

/** How the application's requests wait for their turn, in place of a refusal. */
export interface PlannedWaits {
  readonly maxMs: number
  /** How many may wait in a process. */
  readonly most: number
  readonly priority: 'constant' | 'by request'
}

/** A budget, whose window does not end. */
export interface PlannedBudget {
  readonly levels: { readonly client: number; readonly team: number }
  readonly lost: 'returned' | 'charged'
  readonly soft: boolean
  /** ms */
  readonly hold: number
}

/** What every process of the application is configured with. */
export interface PlannedApplication {
  readonly processes: number
  readonly policies: readonly PlannedPolicy[]
  /** The policy of a second limiter, which reserves for streams. */
  readonly streams?: Extract<PlannedPolicy, { window: number }> & { readonly reserveMs: number }
  /** The policy of another limiter, for which calls wait. */
  readonly queue?: PlannedPolicy
  /** The policy of another limiter, which the application calls several times in one turn. */
  readonly calls?: PlannedPolicy
  /** The policies of another limiter, which leases busy keys, and for how long, ms. */
  readonly leases?: {
    readonly policies: readonly Extract<PlannedPolicy, { window: number }>[]
    readonly leaseMs: number
    /** Some of its processes have a version without leases. */
    readonly withoutToo?: true
  }
  /** The budget of its calls of a language model, in tokens. Its clients are those of two teams. */
  readonly budget?: PlannedBudget
  /** ms */
  readonly deadline: number
  readonly onStoreError: 'local' | 'allow' | 'deny'
  readonly localShare: number
  readonly refusalCache: boolean | undefined
  /** The store is a cluster, which decides keys separately; `sharded`: those of one organisation together. */
  readonly cluster?: { readonly masters: number; readonly sharded: boolean }
  /** Whether calls share transactions, as those of a pool of connections do. */
  readonly joins: boolean
  /** Whether the client keeps what it can't send. */
  readonly queuesOffline: boolean
  readonly ban?: PlannedBan
  /** The ban of the route which counts separately, if it has one of its own. */
  readonly routeBan?: PlannedBan
  /** The ban of the limiter for which calls wait. */
  readonly queueBan?: PlannedBan
  /** Clients that are exempt, and those that are always refused: addresses, networks and keys. */
  readonly lists?: { readonly allow: readonly string[]; readonly deny: readonly string[] }
  /** Requests and responses are those of the Fetch standard, and not those of Node. */
  readonly isFetch?: true
  /** Requests that are refused go on. */
  readonly goesOn?: 'in a dry run' | 'with its decision'
  /** Left out: what is refused does not wait. */
  readonly waits?: PlannedWaits
}

/** In what a version of the application differs. Times are ms. */
export interface PlannedVersion {
  readonly limit?: number | undefined
  /** How long its slots and reservations are held. */
  readonly hold?: number | undefined
  /** The window or the algorithm of its policies, which then count elsewhere. */
  readonly window?: number
  readonly algorithm?: 'fixed-window' | 'sliding-window' | 'sliding-log' | 'token-bucket'
  /** The share of the clients that its policies refuse. */
  readonly enforce?: number | undefined
  /** No document changes its policies. */
  readonly isFixed?: true
  /** Its policies have other names. */
  readonly isRenamed?: true
}

/** What a document sets of a policy. */
export interface PlannedSettings {
  readonly limit?: number
  readonly concurrent?: number
  readonly burst?: number
  readonly maxDelay?: number
  readonly alertAt?: readonly number[]
  readonly dryRun?: boolean
  readonly enforce?: number
}

/** A request of a client. Times are ms. */
export interface PlannedRequest {
  readonly at: number
  /** The process that it arrives at. */
  readonly process: number
  readonly client: string
  /** Its estimate, and what it turns out to cost, units. */
  readonly cost: number
  readonly actual: number
  /** The limit that its client has paid for, in place of that of each policy that counts. Left out: none */
  readonly limit?: number
  /** The window that its client has, in place of that of each policy which may have it. Left out: the policy's */
  readonly window?: number
  /** Its client has the other anchor of the calendar, where that depends on the request. */
  readonly otherAnchor?: true
  /** How long the application works on it. Left out: for ever */
  readonly workMs?: number
  /** When its client hangs up, after its arrival. Left out: it reads all of the response */
  readonly leavesMs?: number
  /**
   * Over the Fetch standard: what the application returns, and how its reader takes it. Left out: a text. A stream is
   * returned at once, and ends with the work; all else is returned then.
   */
  readonly body?: {
    readonly source: 'text' | 'throws' | 'stream' | 'stream that fails'
    /** When the first bytes are asked for, after the response was returned. Left out: never */
    readonly readMs?: number
    /** How long the reader waits before it asks for more. Left out: not at all */
    readonly pauseMs?: number
    /** How many times it asks. Left out: until all is read */
    readonly reads?: number
    /** Whether the body is cancelled when its reader stops, or its client hangs up. */
    readonly cancels?: true
  }
  /** How often it comes again if it is refused, each time after `retryAfterMs`. */
  readonly retries?: number
  /** Its route, if that differs: it has a limit of its own, shares those of the others, or has none. */
  readonly route?: 'own' | 'shared' | 'free'
  /** Whom it comes before while it waits, where that depends on the request. Left out: 0 */
  readonly priority?: number
  /** It is exempt, unless its client is always refused: the application says so, or it is a CORS preflight. */
  readonly exempt?: 'skip' | 'preflight'
  /** It is a stream, which reserves its estimate. How the application ends it. */
  readonly stream?: 'settle' | 'settle twice' | 'release'
  /** It is these calls about its client, all in one turn of the event loop. */
  readonly calls?: readonly PlannedCall[]
  /** It is so many calls of the limiter that leases, one each so many ms. */
  readonly leased?: { readonly times: number; readonly everyMs: number }
  /** It is a call of a language model: how it ends. `bill`: it is settled without a reservation. */
  readonly model?: 'settle' | 'settle twice' | 'release' | 'cancel' | 'bill'
  /**
   * It is a call that waits. Left out, `maxMs`: until it is admitted. `abortsMs`: when it is aborted. `takesTurn`: it
   * takes a turn of a leaky bucket instead, and gives it back when it is aborted
   */
  readonly wait?: {
    readonly priority: number
    readonly maxMs?: number
    readonly abortsMs?: number
    readonly takesTurn?: true
  }
}

/** Whether it is no request over HTTP. */
export function isCall({ stream, wait, calls, leased, model }: PlannedRequest): boolean {
  return [stream, wait, calls, leased, model].some((each) => each !== undefined)
}

/** What goes wrong with one server of the store. `master`: which one of a cluster. */
type ServerFault = { readonly master?: number } & (
  | { readonly kind: 'freeze' | 'out of memory' | 'read only'; readonly ms: number }
  | { readonly kind: 'slow server'; readonly ms: number; readonly by: number }
  /** `lost`: the writes of the last so many ms; left out: all data. */
  | { readonly kind: 'restart'; readonly ms: number; readonly lost?: number }
  | { readonly kind: 'evict' | 'flush' }
  | { readonly kind: 'server clock'; readonly by: number }
)

/** What goes wrong with one process, or its connection. */
type ProcessFault =
  | { readonly kind: 'lose requests' | 'lose replies' | 'stall'; readonly ms: number }
  | { readonly kind: 'reset connection' | 'send twice' }
  /** Another process takes its place, perhaps of another version, of which only one option differs. */
  | ({ readonly kind: 'kill' | 'leave' } & PlannedVersion)
  | { readonly kind: 'process clock'; readonly by: number }

/**
 * An operator changes the settings of live policies, after a look at what there is if `sees`; or somebody writes a text
 * in their place.
 */
type DocumentChange =
  | ({ readonly sees?: true } & (
      | {
          readonly kind: 'set policy'
          readonly policy: number
          readonly set: PlannedSettings
          readonly ms?: number
        }
      | { readonly kind: 'unset policy'; readonly policy: number }
      | {
          readonly kind: 'apply policies'
          readonly all: readonly { readonly policy: number; readonly set: PlannedSettings }[]
        }
      | { readonly kind: 'roll back policies' }
    ))
  | { readonly kind: 'write policies'; readonly json: string }

/** What an operator asks of a process for one client. */
type ClientChange = { readonly client: string } & (
  | { readonly kind: 'reset key' }
  | { readonly kind: 'block key'; readonly ms: number }
  | OwnLimitChange
)

/**
 * A limit of the client's own, or a top-up. `units: null`: the limit of the policy again. Left out, `ms`: until it is
 * ended, or until the window ends.
 */
type OwnLimitChange = {
  readonly policy: number
  readonly ms?: number
  readonly window?: number
} & (
  | { readonly kind: 'override'; readonly units: number | null }
  | { readonly kind: 'grant'; readonly units: number; readonly id?: string }
)

/** Blocks a network, or ends that. */
type NetworkChange = {
  readonly kind: 'block network' | 'unblock network'
  readonly network: string
  readonly ms?: number
}

interface OfProcess {
  readonly process: number
}

/** Something that goes wrong, or that an operator does. Times are ms. */
export type Fault = { readonly at: number } & (
  | ServerFault
  /** A slot of a cluster moves to another master: that of the keys with this text in braces. */
  | { readonly kind: 'move keys'; readonly tag: string; readonly ms: number }
  | (OfProcess & (ProcessFault | DocumentChange | ClientChange | NetworkChange))
)

export type DocumentFault = Extract<Fault, DocumentChange>

/** All of a simulation that is decided before it begins. */
export interface Plan {
  /** Decides what is drawn on the way: latencies, probes, what is evicted. */
  readonly seed: number
  /** The wall clock when it begins, ms since the epoch. Default: 8 in the morning */
  readonly epoch?: number
  /** When the last fault and the last request are over, ms. */
  readonly duration: number
  readonly application: PlannedApplication
  readonly requests: readonly PlannedRequest[]
  readonly faults: readonly Fault[]
}

const OF_OPERATORS = ['override', 'grant', 'block key', 'block network', 'unblock network']

/** Whether it is no fault, but what an operator does, which makes no quota full. */
export function isOfOperator(fault: Fault): boolean {
  return OF_OPERATORS.includes(fault.kind) || isOfDocument(fault)
}

/** Whether it is about the settings of live policies. */
export function isOfDocument(fault: Fault): fault is DocumentFault {
  return /polic(y|ies)$/.test(fault.kind)
}

/** Whether a client of the store may send again what had run. */
export function maySendTwice({ faults }: Plan): boolean {
  return faults.some(({ kind }) => kind === 'send twice' || kind === 'restart')
}

/** What is played around the turn of a calendar, in place of a whole window, ms. */
const BESIDE_TURN_MS = 3000

/** How long it takes until a policy admits again, as far as requests are planned for it, ms. */
export function windowOf(policy: PlannedPolicy): number {
  if ('hold' in policy) return policy.hold
  return 'calendar' in policy ? BESIDE_TURN_MS : policy.window
}

/** The versions of the application that take the place of the first one. */
export function versionsOf({ faults }: Plan): PlannedVersion[] {
  return faults.flatMap((each) => (each.kind === 'leave' || each.kind === 'kill' ? [each] : []))
}

/** Whether a process of another version begins. */
export function isOtherVersion(fault: Fault): boolean {
  if (fault.kind !== 'kill' && fault.kind !== 'leave') return false
  const { at: _, kind: __, process: ___, ...version } = fault
  return Object.keys(version).length > 0
}

/** A policy of a version. */
export function inVersion(
  planned: PlannedPolicy,
  { limit, hold, window, algorithm, enforce, isFixed, isRenamed }: PlannedVersion,
): PlannedPolicy {
  const { live, ...fixed } = planned
  const { dryRun: _, ...enforcing } = isFixed ? fixed : planned
  const policy = enforce === undefined ? (isFixed ? fixed : planned) : { ...enforcing, enforce }
  const name = isRenamed ? `${policy.name} renamed` : policy.name
  if ('hold' in policy)
    return { ...policy, name, concurrent: limit ?? policy.concurrent, hold: hold ?? policy.hold }
  const { reserveMs = 0 } = policy
  const own = {
    ...policy,
    name,
    ...(limit !== undefined && { limit }),
    ...(hold !== undefined && reserveMs > 0 && { reserveMs: hold }),
  }
  // A calendar has its own windows, and one algorithm.
  if (policy.calendar !== undefined) return own
  const { burst: __, maxDelay: ___, ...plain } = own
  const isOther = algorithm !== undefined && algorithm !== policy.algorithm
  const other = isOther ? { ...plain, algorithm } : own
  return window === undefined ? other : { ...other, window }
}

/** How long slots and reservations are held at most, ms; 0: there are none. */
export function longestHold(plan: Plan): number {
  const { policies, queue, streams } = plan.application
  const all = [...policies, ...(queue ? [queue] : []), ...(streams ? [streams] : [])]
  const holds = [{}, ...versionsOf(plan)].flatMap((version) =>
    all.map((each) => holdOf(inVersion(each, version))),
  )
  return Math.max(...holds)
}

/** The share of its clients that a policy refuses, 0 … 1. */
export function enforcedOf({ dryRun, enforce = 1 }: PlannedPolicy): number {
  return dryRun ? 0 : enforce
}

/** How long a policy holds slots or reservations, ms; 0: it has none. */
export function holdOf(policy: PlannedPolicy): number {
  return 'hold' in policy ? policy.hold : (policy.reserveMs ?? 0)
}
