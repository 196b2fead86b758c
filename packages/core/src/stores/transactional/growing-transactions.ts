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
class GrowingCall {
  keys: readonly string[] = []
  /** The calls that share a key with it and were decided before it: each settles when it is over. */
  behind: readonly Promise<unknown>[] = []
  isPostponed = false
  missing: readonly string[] = []
}

/**
 * Transactions whose decisions find out while they decide which keys they need: they throw {@link MissingKeys}, and
 * are repeated with these keys too. Meanwhile no other of the same names is decided: calls keep their order.
 */
export class GrowingTransactions {
  private readonly backend: TransactionalBackend
  /** The last postponed call of each name. */
  private readonly last = new Map<
    string,
    { readonly call: GrowingCall; readonly over: Promise<unknown> }
  >()

  constructor(backend: TransactionalBackend) {
    this.backend = backend
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
    let settle = () => {}
    const over = new Promise<void>((resolve) => {
      settle = resolve
    })
    const keys = new Set([...names, ...more])
    const until = performance.now() + (withinMs ?? Infinity)
    const attempt = (states: readonly (Uint8Array | undefined)[], now: number) =>
      this.decide(call, over, names, decide, states, now)
    try {
      for (;;) {
        call.keys = [...keys].sort()
        const done = await this.backend.transact(call.keys, attempt, withinMs)
        if (done !== undefined) return done.value
        await Promise.all(call.behind)
        if (performance.now() > until) throw new Error(`no answer within ${withinMs} ms`)
        for (const key of call.missing) keys.add(key)
      }
    } finally {
      for (const name of names) if (this.last.get(name)?.call === call) this.last.delete(name)
      settle()
    }
  }

  /** The value is undefined if the call is postponed. */
  private decide<T>(
    call: GrowingCall,
    over: Promise<unknown>,
    names: readonly string[],
    decide: (states: States, now: number) => Transaction<T>,
    states: readonly (Uint8Array | undefined)[],
    now: number,
  ): Transaction<{ readonly value: T } | undefined> {
    const isBehind = !call.isPostponed && names.some((name) => this.last.has(name))
    if (isBehind) return this.postpone(call, over, names)
    try {
      const decided = decide(new Map(call.keys.map((key, i) => [key, states[i]])), now)
      return { ...decided, value: { value: decided.value } }
    } catch (error) {
      if (!(error instanceof MissingKeys)) throw error
      call.missing = error.keys
      return this.postpone(call, over, names)
    }
  }

  private postpone(call: GrowingCall, over: Promise<unknown>, names: readonly string[]) {
    if (!call.isPostponed) {
      call.isPostponed = true
      call.behind = names.flatMap((name) => this.last.get(name)?.over ?? [])
      for (const name of names) this.last.set(name, { call, over })
    }
    return { changes: [], value: undefined }
  }
}
