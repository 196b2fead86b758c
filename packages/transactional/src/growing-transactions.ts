import { Deadlines } from '@sluice/core/store'
import { AwaitedCall, LastCalls } from './last-calls.ts'
import type { Transaction, TransactionalBackend } from './transactional-backend.ts'

/** The states of a transaction's keys. */
export type States = ReadonlyMap<string, Uint8Array | undefined>

/** A decision needs the states of more keys than its transaction has. */
export class MissingKeys extends Error {
  readonly keys: readonly string[]

  constructor(keys: readonly string[]) {
    super(`the transaction has not read ${keys.join()}`)
    this.keys = keys
  }
}

/** A transaction whose keys may turn out to be too few. */
class GrowingCall extends AwaitedCall {
  keys: readonly string[] = []
  /** Each resolves when a call is over that shares a key with this one and was decided before it. */
  behind: readonly Promise<void>[] = []
  isPostponed = false
  missing: readonly string[] = []
}

/**
 * Transactions whose decisions find out while they decide which keys they need: they throw {@link MissingKeys}, and
 * are repeated with these keys too. Meanwhile no other of the same names is decided: calls keep their order. One that
 * takes longer than it may is not waited for any more.
 */
export class GrowingTransactions {
  readonly #backend: TransactionalBackend
  /** The last postponed call of each name. */
  readonly #last = new LastCalls()
  readonly #deadlines = new Deadlines()

  constructor(backend: TransactionalBackend) {
    this.#backend = backend
  }

  /**
   * See `TransactionalBackend.transact`.
   *
   * @param names keys that every transaction about the same states has
   * @param more keys that are probably needed too
   */
  async transact<T>(
    names: readonly string[],
    more: readonly string[],
    decide: (states: States, now: number) => Transaction<T>,
    withinMs: number | undefined,
  ): Promise<T> {
    const call = new GrowingCall()
    const keys = new Set([...names, ...more])
    const until = performance.now() + (withinMs ?? Infinity)
    const attempt = (states: readonly (Uint8Array | undefined)[], now: number) =>
      this.#decide(call, names, decide, states, now, withinMs)
    try {
      for (;;) {
        call.keys = [...keys].sort()
        const done = await this.#backend.transact(call.keys, attempt, withinMs)
        if (done !== undefined) return done.value
        await Promise.all(call.behind)
        call.behind = []
        if (performance.now() > until) throw new Error(`no answer within ${withinMs} ms`)
        for (const key of call.missing) keys.add(key)
      }
    } finally {
      if (withinMs !== undefined && call.isPending) this.#deadlines.of(withinMs).end(call)
      call.giveUp()
    }
  }

  /** The value is undefined if the call is postponed. */
  #decide<T>(
    call: GrowingCall,
    names: readonly string[],
    decide: (states: States, now: number) => Transaction<T>,
    states: readonly (Uint8Array | undefined)[],
    now: number,
    withinMs: number | undefined,
  ): Transaction<{ readonly value: T } | undefined> {
    const isBehind = call.isPostponed
      ? call.behind.length > 0
      : names.some((name) => this.#last.has(name))
    if (isBehind) return this.#postpone(call, names, withinMs)
    try {
      const decided = decide(new Map(call.keys.map((key, i) => [key, states[i]])), now)
      return { ...decided, value: { value: decided.value } }
    } catch (error) {
      if (!(error instanceof MissingKeys)) throw error
      call.missing = error.keys
      return this.#postpone(call, names, withinMs)
    }
  }

  #postpone(call: GrowingCall, names: readonly string[], withinMs: number | undefined) {
    if (!call.isPostponed) {
      call.isPostponed = true
      if (withinMs !== undefined) this.#deadlines.of(withinMs).start(call)
      call.behind = this.#last.add(call, names)
    }
    return { changes: [], value: undefined }
  }
}
