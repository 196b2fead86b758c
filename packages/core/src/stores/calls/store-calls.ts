import { afterAsking, timersEndWithRequest } from '#platform'
import { SluiceError } from '../../errors/sluice-error.ts'
import { togetherBy } from '../../key/notation.ts'
import { isTooMuch, workOf } from '../rules/work.ts'
import type { Charge, Ledger, Requests, StoreResult } from '../store.ts'
import { Breaker, StoreHealth } from './breaker.ts'
import { Deadline, DeadlineError, PendingCall } from './deadline.ts'

type Results = readonly (StoreResult | Error)[]

/** The results of some requests; undefined if the store has not decided all of them. */
type Decided = readonly StoreResult[] | undefined

/** A call on its way: one object for the queue, the deadline and the answer. Only `ask` may throw. */
abstract class StoreCall<T = unknown> extends PendingCall {
  /** These are set when it is sent. `askedAt`: when the store was called, ms of `performance.now()`. */
  declare askedAt: number | undefined
  declare deadline: Deadline
  declare calls: StoreCalls
  /** Where it counts while it is late. */
  declare unanswered: { late: number }

  abstract ask(): Promise<T>
  /** Either this one or `failed` is called, once. */
  abstract answered(answer: T): void
  abstract failed(error: unknown): void
  /** Gets an answer that comes after the call has failed. */
  late(_answer: T): void {}

  override giveUp(error: Error): void {
    this.calls.giveUp(this, error)
  }
}

/** A call whose answer is a promise. */
class PromisedCall<T> extends StoreCall<T> {
  readonly ask: () => Promise<T>
  readonly answered: (answer: T) => void
  readonly failed: (error: unknown) => void

  constructor(
    ask: () => Promise<T>,
    answered: (answer: T) => void,
    failed: (error: unknown) => void,
  ) {
    super()
    this.ask = ask
    this.answered = answered
    this.failed = failed
  }
}

/** Requests that share a call. */
class Batch extends StoreCall<Results | undefined> {
  readonly requests: (readonly Charge[])[] = []
  readonly #route: string
  readonly #batches: Batches
  /** How much work its requests are; undefined until another one asks. */
  #work: number | undefined
  /** The callers that wait for the results from one index to before another. */
  readonly #waiting: {
    readonly from: number
    readonly to: number
    readonly use: (results: Decided) => unknown
    readonly late: ((results: Decided) => void) | undefined
    readonly resolve: (answer: never) => void
    readonly reject: (error: unknown) => void
  }[] = []

  constructor(batches: Batches, route: string) {
    super()
    this.#batches = batches
    this.#route = route
  }

  add<T>(
    requests: Requests,
    use: (results: Decided) => T,
    late: ((results: Decided) => void) | undefined,
  ): Promise<T> {
    const from = this.requests.length
    for (const charges of requests) this.requests.push(charges)
    const to = this.requests.length
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ from, to, use, late, resolve, reject })
    })
  }

  /** Whether the call stays short enough with these requests: none may block the store for long. */
  hasRoomFor(requests: Requests): boolean {
    this.#work = (this.#work ?? workOfAll(this.requests)) + workOfAll(requests)
    return !isTooMuch(this.#work)
  }

  /** Sends it, unless that has been done. */
  send(): void {
    const { open, calls } = this.#batches
    if (!calls.open.delete(this)) return
    open.delete(this.#route)
    // A call that was made earlier in this turn may have failed.
    if (calls.isTrusted) calls.send(this)
    else this.failed()
  }

  ask(): Promise<Results> {
    return this.#batches.remote.decide(this.requests)
  }

  answered(results: Results | undefined): void {
    for (const { from, to, use, resolve, reject } of this.#waiting) {
      try {
        resolve(use(results && decidedOf(results, from, to)) as never)
      } catch (error) {
        reject(error)
      }
    }
  }

  failed(): void {
    this.answered(undefined)
  }

  override late(results: Results): void {
    for (const { from, to, late } of this.#waiting) late?.(decidedOf(results, from, to))
  }
}

/**
 * Requests that arrive in the same turn of the event loop share a call (on the web: in the same task); if the store decides keys
 * separately, those of the same key or shard. A call of another kind about one of their keys comes after them
 * (`StoreCalls.sendBefore`).
 */
export class Batches {
  readonly remote: Ledger<'async'>
  readonly calls: StoreCalls
  readonly open = new Map<string, Batch>()

  constructor(remote: Ledger<'async'>, calls: StoreCalls) {
    this.remote = remote
    this.calls = calls
  }

  /**
   * Decides requests of the same key or shard one after the other, with no other request between them.
   *
   * @param use makes the answer of the results; of undefined, if the store has not decided all of them in
   *   time
   * @param late given the results, if they come too late. Must not throw
   */
  ask<T>(
    requests: Requests,
    use: (results: Decided) => T,
    late?: (results: Decided) => void,
  ): Promise<T> {
    const { key } = (requests[0] as readonly [Charge])[0]
    const route = this.remote.shard === undefined ? '' : togetherBy(key)
    let batch = this.open.get(route)
    if (batch?.hasRoomFor(requests) === false) {
      batch.send()
      batch = undefined
    }
    if (batch === undefined) {
      const begun = new Batch(this, route)
      this.open.set(route, begun)
      this.calls.open.add(begun)
      afterAsking(() => begun.send())
      batch = begun
    }
    return batch.add(requests, use, late)
  }
}

function workOfAll(requests: Requests): number {
  let work = 0
  for (const charges of requests) work += workOf(charges)
  return work
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
  readonly #waiting = new Set<StoreCall>()
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
   * no answer in time, or it is an error.
   */
  send(call: StoreCall): void {
    call.calls = this
    call.askedAt = undefined
    call.unanswered = this.#unanswered
    call.deadline = this.#shared ?? new Deadline(this.#deadlineMs)
    call.deadline.start(call)
    // A request that the runtime has dropped counts as active for ever, and none may wait for another one.
    if (this.#active < MAX_ACTIVE || timersEndWithRequest) void this.#begin(call)
    else if (this.#waiting.size < MAX_WAITING) this.#waiting.add(call)
    else this.#refuse(call, new Error('too many calls wait for the store'))
  }

  /** Sends a call, and returns its answer as a promise. */
  call<T>(ask: () => Promise<T>): Promise<T> {
    return new Promise((answered, failed) => this.send(new PromisedCall(ask, answered, failed)))
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
    if (call.askedAt === undefined) this.#waiting.delete(call)
    else {
      call.unanswered.late += 1
      this.#active -= 1
      this.#beginWaiting()
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
    if (this.#waiting.size > 0) this.#beginWaiting()
    if (isAnswered) {
      if (inTime && this.isTrusted && this.#breaker.failures > 0) this.#breaker.succeeded()
      if (inTime) call.answered(answer)
      else call.late(answer)
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
    for (const following of this.#waiting) {
      if (this.#active >= MAX_ACTIVE) return
      this.#waiting.delete(following)
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
      for (const call of this.#waiting) {
        this.#waiting.delete(call)
        if (call.isPending) this.#refuse(call, error)
      }
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

/** The calls to a store with one deadline: to each shard of it that fails separately, or to all of it. */
export class ShardCalls {
  readonly #create: () => StoreCalls
  readonly #health = new StoreHealth()
  readonly #shards: StoreCalls[] = []

  /**
   * @param deadlineMs the longest that a call may take, 1 … 60,000
   * @param trouble says why there may be no answer: see `Store.trouble`
   */
  constructor(deadlineMs: number, trouble?: () => string | undefined) {
    const shared = timersEndWithRequest ? undefined : new Deadline(deadlineMs)
    this.#create = () => new StoreCalls(deadlineMs, shared, this.#health, trouble)
  }

  /** @param shard see `Ledger.shard`; 0 of a store that fails as a whole */
  to(shard: number): StoreCalls {
    const calls = this.#shards[shard] ?? this.#create()
    this.#shards[shard] = calls
    return calls
  }

  /** Ends the reports of the store's health: nothing uses the store any more. */
  close(): void {
    this.#health.close()
  }
}
