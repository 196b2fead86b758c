import { afterAsking, timersEndWithRequest } from '#platform'
import { SluiceError } from '../../errors/sluice-error.ts'
import { togetherBy } from '../../key/notation.ts'
import { isTooMuch, workOf } from '../rules/work.ts'
import type { Charge, Ledger, StoreResult } from '../store.ts'
import { Breaker, StoreHealth } from './breaker.ts'
import { Deadline, DeadlineError, PendingCall } from './deadline.ts'

type Requests = readonly (readonly Charge[])[]
type Results = readonly (StoreResult | Error)[]

/** The results of some requests; undefined if the store has not decided all of them. */
type Decided = readonly StoreResult[] | undefined

/** Requests that share a call. */
interface Batch {
  readonly calls: StoreCalls
  /** Sends the call at once. */
  readonly send: () => void
  readonly requests: (readonly Charge[])[]
  /** How much work its requests are; undefined until another one asks. */
  work: number | undefined
  /** The callers that wait for the results from one index to before another. */
  readonly waiting: {
    readonly from: number
    readonly to: number
    readonly use: (results: Decided) => unknown
    readonly late: ((results: Decided) => void) | undefined
    readonly resolve: (answer: never) => void
    readonly reject: (error: unknown) => void
  }[]
}

/**
 * Requests that arrive in the same turn of the event loop share a call (on the web: in the same task); if the store decides keys
 * separately, those of the same key or shard. A call of another kind about one of their keys comes after them
 * (`StoreCalls.sendBefore`).
 */
export class Batches {
  readonly #remote: Ledger<'async'>
  #open = new Map<string, Batch>()

  constructor(remote: Ledger<'async'>) {
    this.#remote = remote
  }

  /**
   * Decides requests of the same key or shard one after the other, with no other request between them.
   *
   * @param calls the calls to the shard that has the key
   * @param use makes the answer of the results; of undefined, if the store has not decided all of them in
   *   time
   * @param late given the results, if they come too late. Must not throw
   */
  ask<T>(
    requests: Requests,
    calls: StoreCalls,
    use: (results: Decided) => T,
    late?: (results: Decided) => void,
  ): Promise<T> {
    const { key } = (requests[0] as readonly [Charge])[0]
    const route = this.#remote.shard === undefined ? '' : togetherBy(key)
    let batch = this.#open.get(route)
    if (batch !== undefined && !this.#hasRoomFor(batch, requests)) {
      batch.send()
      batch = undefined
    }
    batch ??= this.#begin(route, calls)
    const { requests: all, waiting } = batch
    const from = all.length
    for (const charges of requests) all.push(charges)
    const answer = new Promise<T>((resolve, reject) => {
      waiting.push({ from, to: all.length, use, late, resolve, reject })
    })
    return answer
  }

  #begin(route: string, calls: StoreCalls): Batch {
    if (this.#open.size === 0) afterAsking(this.#sendAll)
    const send = () => {
      this.#open.delete(route)
      this.#send(batch)
    }
    const batch: Batch = { calls, send, requests: [], work: undefined, waiting: [] }
    this.#open.set(route, batch)
    calls.open.add(batch)
    return batch
  }

  /** Whether the call stays short enough with these requests: none may block the store for long. */
  #hasRoomFor(batch: Batch, requests: Requests): boolean {
    batch.work = (batch.work ?? this.#workOf(batch.requests)) + this.#workOf(requests)
    return !isTooMuch(batch.work)
  }

  #workOf(requests: Requests): number {
    let work = 0
    for (const charges of requests) work += workOf(charges)
    return work
  }

  readonly #sendAll = () => {
    const open = this.#open
    this.#open = new Map()
    for (const batch of open.values()) this.#send(batch)
  }

  #send(batch: Batch): void {
    const { calls, requests, waiting } = batch
    calls.open.delete(batch)
    const ask = () => this.#remote.decide(requests)
    const answer = (results: Results | undefined) => {
      for (const { from, to, use, resolve, reject } of waiting) {
        try {
          resolve(use(results && decidedOf(results, from, to)) as never)
        } catch (error) {
          reject(error)
        }
      }
    }
    const late = (results: Results) => {
      for (const { from, to, late } of waiting) late?.(decidedOf(results, from, to))
    }
    // A call that was made earlier in this turn may have failed.
    if (calls.isTrusted) calls.send(ask, answer, () => answer(undefined), late)
    else answer(undefined)
  }
}

/** The results from one index to before another; undefined if one of them is an error. */
function decidedOf(results: Results, from: number, to: number): Decided {
  for (let i = from; i < to; i += 1) if (results[i] instanceof Error) return undefined
  const own = to - from === results.length ? results : results.slice(from, to)
  return own as readonly StoreResult[]
}

/** The most calls in progress at the same time. */
const MAX_ACTIVE = 1000
/** The most calls that wait: about as many as a Redis answers in 100 ms. */
const MAX_WAITING = 10_000
/** The most calls without an answer after their deadline: above it, the client loses them. */
const MAX_LATE = 1000
/** The most probes without an answer: a client may queue them until it is connected. */
const MAX_PROBES = 8
/** How long unanswered probes may stay without a further probe, ms, before they count as lost. */
const LOST_MS = 30_000

/**
 * Calls a store, or a shard of it that fails separately: each within the deadline, a bounded number at
 * the same time, and none but probes while the breaker is open.
 */
export class StoreCalls {
  /** Whether a request may wait for the store. */
  isTrusted = true
  /** Why the store is not trusted; undefined while it is. */
  failure: unknown = undefined
  /** Batches that will be sent at the end of the turn. */
  readonly open = new Set<Batch>()
  readonly #deadlineMs: number
  /** The deadline of all calls, unless its timer would end with the request in which it was set. */
  readonly #shared: Deadline | undefined
  readonly #health: StoreHealth
  readonly #trouble: (() => string | undefined) | undefined
  readonly #breaker = new Breaker()
  #active = 0
  /** Calls that begin in their order, so that a burst of requests is work for a store, not its failure. */
  #waiting: StoreCall[] = []
  /** The index of the next call in `waiting`: those before it have begun. */
  #next = 0
  /** Unanswered calls. Replaced at a recovery, because the client may have lost some. */
  #unanswered = { late: 0, probes: 0 }
  #probedAt = 0

  /**
   * @param shared the deadline of all calls; undefined: each has its own
   * @param trouble says why there may be no answer: see `Store.trouble`
   */
  constructor(
    deadlineMs: number,
    shared: Deadline | undefined,
    health: StoreHealth,
    trouble?: () => string | undefined,
  ) {
    this.#trouble = trouble
    this.#deadlineMs = deadlineMs
    this.#shared = shared
    this.#health = health
  }

  /**
   * Sends the open batches, of any ledger, that decide about one of these keys. Call it before a call of another
   * kind: what is called first happens first.
   */
  sendBefore(keys: readonly string[]): void {
    if (this.open.size === 0) return
    const [only] = keys
    // Most calls have one key: a set takes longer.
    const wanted = keys.length === 1 ? undefined : new Set(keys)
    for (const batch of this.open) {
      const isWanted = ({ key }: Charge) => key === only || wanted?.has(key) === true
      if (batch.requests.some((charges) => charges.some(isWanted))) batch.send()
    }
  }

  /**
   * Calls the store: immediately or, if many calls are in progress, in its turn. It fails if there is
   * no answer in time, or it is an error. Either `answered` or `failed` is called, once.
   *
   * @param late gets an answer that comes after the call has failed. None of the functions may throw
   */
  send<T>(
    ask: () => Promise<T>,
    answered: (answer: T) => void,
    failed: (error: unknown) => void,
    late?: (answer: T) => void,
  ): void {
    const call = new StoreCall(this, this.#unanswered, ask, answered, failed, late)
    call.deadline = this.#shared ?? new Deadline(this.#deadlineMs)
    call.deadline.start(call)
    // A request that the runtime has dropped counts as active for ever, and none may wait for another one.
    if (this.#active < MAX_ACTIVE || timersEndWithRequest) void this.#begin(call)
    else if (this.#waiting.length - this.#next < MAX_WAITING) this.#waiting.push(call)
    else this.#refuse(call, new Error('too many calls wait for the store'))
  }

  /** Sends a call as `send` does, and returns its answer as a promise. */
  call<T>(ask: () => Promise<T>): Promise<T> {
    return new Promise((answered, failed) => this.send(ask, answered, failed))
  }

  /**
   * Sends a probe in the background, if it is time for one.
   * @param ask must not throw: it returns a native promise
   * @returns what resolves when there is an answer, or its deadline has passed: a runtime that drops what a request
   *   leaves behind needs one that waits. Undefined: it is not time for one
   */
  probe(ask: () => Promise<unknown>): Promise<void> | undefined {
    const breaker = this.#breaker
    const now = performance.now()
    if (!breaker.isProbeDue(now)) return undefined
    if (this.#unanswered.probes >= MAX_PROBES) {
      if (now - this.#probedAt < LOST_MS) return undefined
      this.#unanswered = { late: 0, probes: 0 }
    }
    const unanswered = this.#unanswered
    this.#probedAt = now
    breaker.schedule(now)
    unanswered.probes += 1
    return new Promise((over) => {
      const pending = new PendingCall()
      pending.giveUp = () => over()
      const deadline = this.#shared ?? new Deadline(this.#deadlineMs)
      deadline.start(pending)
      ask()
        .then(
          () => {
            unanswered.probes -= 1
            if (deadline.end(pending)) this.#recover()
            else breaker.hasten(performance.now())
          },
          (error) => {
            unanswered.probes -= 1
            deadline.end(pending)
            if (error instanceof SluiceError) this.#failed(error, now)
          },
        )
        .then(over)
    })
  }

  /** Ends a call whose deadline has passed. */
  giveUp(call: StoreCall, late: Error): void {
    const why = this.#trouble?.()
    const error = why === undefined ? late : new DeadlineError(`${late.message}: ${why}`)
    if (call.askedAt !== undefined) {
      call.unanswered.late += 1
      this.#active -= 1
      if (this.#waiting.length > 0) this.#beginWaiting()
      this.#failed(error, call.askedAt)
    }
    call.failed(error)
  }

  async #begin(call: StoreCall): Promise<void> {
    this.#active += 1
    const askedAt = performance.now()
    call.askedAt = askedAt
    let answer: unknown
    let isAnswered = false
    try {
      answer = await call.ask()
      isAnswered = true
    } catch (error) {
      answer = error
    }
    const inTime = call.deadline.end(call)
    if (inTime) this.#active -= 1
    else call.unanswered.late -= 1
    if (this.#waiting.length > 0) this.#beginWaiting()
    if (isAnswered) {
      if (inTime && this.isTrusted && this.#breaker.failures > 0) this.#breaker.succeeded()
      if (inTime) call.answered(answer)
      else call.late?.(answer)
    } else {
      if (inTime || answer instanceof SluiceError) this.#failed(answer, askedAt)
      // One that was given up has failed already.
      if (inTime) call.failed(answer)
    }
  }

  /** Refuses a call that has not begun. */
  #refuse(call: StoreCall, reason: unknown): void {
    call.deadline.end(call)
    call.failed(reason)
  }

  /** Calls in progress are over: those that wait take their turn. */
  #beginWaiting(): void {
    while (this.#next < this.#waiting.length && this.#active < MAX_ACTIVE) {
      const following = this.#waiting[this.#next] as StoreCall
      this.#next += 1
      if (this.#next === this.#waiting.length || this.#next === MAX_ACTIVE) {
        this.#waiting = this.#waiting.slice(this.#next)
        this.#next = 0
      }
      if (following.isPending) void this.#begin(following)
    }
  }

  /** @param askedAt when the store was called, ms of `performance.now()` */
  #failed(error: unknown, askedAt: number): void {
    // A set-up that can't work, or a client that no longer answers.
    const final = error instanceof SluiceError || this.#unanswered.late >= MAX_LATE
    if (this.#breaker.failed(askedAt, performance.now(), final)) {
      this.isTrusted = false
      this.failure = error
      this.#health.down(error)
      const refused = this.#waiting.slice(this.#next)
      this.#waiting = []
      this.#next = 0
      for (const call of refused) if (call.isPending) this.#refuse(call, error)
    } else if (this.#breaker.isOpen && error instanceof SluiceError) {
      this.failure = error
      this.#health.setUpFails(error)
    }
  }

  #recover(): void {
    if (!this.#breaker.isOpen) return
    this.#breaker.close(performance.now())
    this.isTrusted = true
    this.failure = undefined
    this.#unanswered = { late: 0, probes: 0 }
    this.#health.up()
  }
}

/** The calls to each shard of a store, with one deadline. */
export class ShardCalls {
  readonly #deadlineMs: number
  readonly #shared: Deadline | undefined
  readonly #health = new StoreHealth()
  readonly #trouble: (() => string | undefined) | undefined
  readonly #shards: StoreCalls[] = []

  /**
   * @param deadlineMs the longest that a call may take, 1 … 60,000
   * @param trouble says why there may be no answer: see `Store.trouble`
   */
  constructor(deadlineMs: number, trouble?: () => string | undefined) {
    this.#trouble = trouble
    this.#deadlineMs = deadlineMs
    this.#shared = timersEndWithRequest ? undefined : new Deadline(deadlineMs)
  }

  /** The calls to the shard that has a key. */
  to({ shard: shardOf }: Pick<Ledger, 'shard'>, key: string): StoreCalls {
    const shard = shardOf === undefined ? 0 : shardOf(key)
    const known = this.#shards[shard]
    if (known !== undefined) return known
    const calls = new StoreCalls(this.#deadlineMs, this.#shared, this.#health, this.#trouble)
    this.#shards[shard] = calls
    return calls
  }

  /** Ends the reports of the store's health: nothing uses the store any more. */
  close(): void {
    this.#health.close()
  }
}

/** A call on its way: one object for the queue, the deadline and the answer. */
class StoreCall extends PendingCall {
  readonly ask: () => Promise<unknown>
  readonly answered: (answer: unknown) => void
  readonly failed: (error: unknown) => void
  readonly late: ((answer: unknown) => void) | undefined
  /** Where it counts while it is late. */
  readonly unanswered: { late: number }
  /** When the store was called, ms of `performance.now()`; undefined while the call waits. */
  askedAt: number | undefined = undefined
  /** Set when it is sent. */
  declare deadline: Deadline
  readonly #calls: StoreCalls

  constructor(
    calls: StoreCalls,
    unanswered: { late: number },
    ask: () => Promise<unknown>,
    answered: (answer: never) => void,
    failed: (error: unknown) => void,
    late: ((answer: never) => void) | undefined,
  ) {
    super()
    this.#calls = calls
    this.unanswered = unanswered
    this.ask = ask
    this.answered = answered as StoreCall['answered']
    this.failed = failed
    this.late = late as StoreCall['late']
  }

  override giveUp(error: Error): void {
    this.#calls.giveUp(this, error)
  }
}
