import type { CompiledLimit, KeyState, Outcome } from '../../algorithms/algorithm.ts'
import type { KeptKeyspaces, LedgerKeyspaces } from '../inspection/kept-keyspaces.ts'
import { subject } from '../redis/keys.ts'
import { applyChange, type ChangedStates, keysOf } from '../rules/change.ts'
import { commitOne, decideAll, keepMsOf } from '../rules/decide-all.ts'
import { decodeState, encodeState } from '../rules/state-bytes.ts'
import type {
  Change,
  Charge,
  GrantResult,
  Keyspace,
  Keyspaces,
  Ledger,
  Raise,
  StoreResult,
} from '../store.ts'
import type { ListingBackend, StateChange, TransactionalBackend } from './transactional-backend.ts'

/** Decides on the states of a backend that has transactions. */
export class TransactionalLedger implements Ledger<'async'> {
  private readonly backend: TransactionalBackend & Partial<ListingBackend>
  /** The keyspaces of the policies, then that of the ban. */
  private readonly keyspaces: readonly Keyspace[]
  private readonly ban: CompiledLimit | undefined
  private readonly prefix: string
  private readonly deadlineMs: number | undefined
  private readonly kept: LedgerKeyspaces | undefined

  constructor(
    backend: TransactionalBackend & Partial<ListingBackend>,
    { policies, ban }: Keyspaces,
    prefix: string,
    deadlineMs: number | undefined,
    kept: KeptKeyspaces,
  ) {
    this.backend = backend
    this.keyspaces = policies.concat(ban ?? [])
    this.ban = ban?.limit
    this.prefix = prefix
    this.deadlineMs = deadlineMs
    this.kept = backend.list && kept.of(this.keyspaces, prefix)
  }

  async decide(
    requests: readonly (readonly Charge[])[],
    isPeek = false,
  ): Promise<(StoreResult | Error)[]> {
    const names = requests.flatMap((charges) => this.names(charges))
    const decide = (states: TransactionStates, now: number) =>
      requests.map((charges) => orError(() => this.decideOne(states, charges, now, isPeek)))
    const results = await this.transact(names, decide, (decided) => !decided.every(isAdmitted))
    if (!isPeek) this.kept?.keep()
    return results
  }

  async change(change: Change, raised?: (raise: Raise) => void): Promise<GrantResult | undefined> {
    const count = this.keyspaces.length
    const names = keysOf(change, count).map(({ policy, key }) => this.name(key, policy))
    const { result, raises } = await this.transact(names, (states, now) => {
      const raises: Raise[] = []
      const changed: ChangedStates = {
        load: (policy, key) => states.of(this.name(key, policy)),
        keep: (policy, key, state, keepMs) => states.put(this.name(key, policy), state, keepMs),
      }
      return { result: applyChange(change, changed, count, now, raised && raises), raises }
    })
    if (raised !== undefined) for (const raise of raises) raised(raise)
    this.kept?.keep()
    return result
  }

  private decideOne(
    states: TransactionStates,
    charges: readonly Charge[],
    now: number,
    isPeek: boolean,
  ): StoreResult {
    const names = this.names(charges)
    const loaded = names.map((name) => states.of(name))
    const ban = this.ban && { limit: this.ban, state: loaded.pop() as KeyState }
    const admitted = decideAll(loaded, charges, now, ban, isPeek)
    const outcomes = loaded.map(outcomeOf)
    const banned = ban && outcomeOf(ban.state)
    if (isPeek) for (const name of names) states.restore(name)
    else this.commit(states, charges, names, now, admitted)
    return { admitted, at: now, source: 'store', outcomes, ban: banned }
  }

  private commit(
    states: TransactionStates,
    charges: readonly Charge[],
    names: readonly string[],
    now: number,
    admitted: boolean,
  ): void {
    for (const [i, name] of names.entries()) {
      const state = states.of(name)
      const charge = charges[i] ?? { key: name, limit: this.ban as CompiledLimit, cost: 0 }
      const kept = commitOne(state, charge, now, admitted ? charge.cost : 0)
      // What is full by now is kept too: it counts again if the clock steps back once more.
      if (kept || state.counted)
        states.put(name, state, Math.max(1, keepMsOf(state, charge.limit, now)))
      else states.restore(name)
    }
  }

  private transact<T>(
    names: readonly string[],
    work: (states: TransactionStates, now: number) => T,
    needsClock?: (value: T) => boolean,
  ) {
    const sorted = [...new Set(names)].sort()
    const decide = (bytes: readonly (Uint8Array | undefined)[], now: number) => {
      const states = new TransactionStates(sorted, bytes)
      const value = work(states, now)
      return { value, changes: states.changes(), needsClock: needsClock?.(value) ?? false }
    }
    return this.backend.transact(sorted, decide, this.deadlineMs)
  }

  /** The names of the keys of a request. Where there is no charge, as for a ban, it is the key of the first one. */
  private names(charges: readonly Charge[]): string[] {
    return this.keyspaces.map((_, i) => this.name(((charges[i] ?? charges[0]) as Charge).key, i))
  }

  private name(key: string, place: number): string {
    const { prefix = this.prefix, name } = this.keyspaces[place] as Keyspace
    return `${prefix}:{${subject(key)}}:${name}`
  }
}

/** The states of a transaction, by the names of their keys. */
class TransactionStates {
  private readonly bytes = new Map<string, Uint8Array | undefined>()
  private readonly states = new Map<string, KeyState>()
  private readonly changed = new Map<string, StateChange>()

  constructor(keys: readonly string[], bytes: readonly (Uint8Array | undefined)[]) {
    for (const [i, key] of keys.entries()) this.bytes.set(key, bytes[i])
  }

  /** @throws RangeError if the key holds no state */
  of(key: string): KeyState {
    let state = this.states.get(key)
    if (state === undefined) {
      state = decodeState(this.bytes.get(key))
      this.states.set(key, state)
    }
    return state
  }

  /** @param ttlMs how long it must be kept; 0: it is deleted */
  put(key: string, state: KeyState, ttlMs: number): void {
    const bytes = ttlMs === 0 ? undefined : encodeState(state)
    this.bytes.set(key, bytes)
    this.states.set(key, state)
    this.changed.set(key, { key, state: bytes, ttlMs })
  }

  /** Forgets what a refusal has made of a state that is not kept: the next decision may have another limit. */
  restore(key: string): void {
    this.states.delete(key)
  }

  changes(): StateChange[] {
    return [...this.changed.values()]
  }
}

function outcomeOf({
  admitted,
  remaining,
  resetMs,
  retryAfterMs,
  effectiveMs,
  delayMs,
  counted,
  own,
  ownMs,
}: KeyState): Outcome {
  return { admitted, remaining, resetMs, retryAfterMs, effectiveMs, delayMs, counted, own, ownMs }
}

function isAdmitted(result: StoreResult | Error): boolean {
  return !(result instanceof Error) && result.admitted
}

/** A state that can't be read fails only its own request. */
function orError<T>(act: () => T): T | Error {
  try {
    return act()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
