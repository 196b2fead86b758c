import {
  type CompiledLimit,
  KeyState,
  type Outcome,
  type Override,
} from '../../algorithms/algorithm.ts'
import type { KeptTerms, LedgerTerms } from '../inspection/kept-terms.ts'
import { subject } from '../redis/keys.ts'
import {
  commitOne,
  decideAll,
  keepMsAt,
  keepMsOf,
  renewOne,
  settleOne,
} from '../rules/decide-all.ts'
import { unended, withGrant, withOverride, withTerms } from '../rules/own-terms.ts'
import { renewalsOf } from '../rules/slots.ts'
import { decodeState, encodeState } from '../rules/state-bytes.ts'
import type {
  Charge,
  DecisionSource,
  GivenGrant,
  GrantResult,
  Keyspace,
  Keyspaces,
  Ledger,
  Raise,
  StoreResult,
} from '../store.ts'
import type { Change, ListingBackend, TransactionalBackend } from './transactional-backend.ts'

/** Decides on the states of a backend that has transactions. */
export class TransactionalLedger implements Ledger<'async'> {
  private readonly backend: TransactionalBackend & Partial<ListingBackend>
  /** The keyspaces of the policies, then that of the ban. */
  private readonly keyspaces: readonly Keyspace[]
  private readonly ban: CompiledLimit | undefined
  private readonly prefix: string
  private readonly deadlineMs: number | undefined
  private readonly terms: LedgerTerms

  constructor(
    backend: TransactionalBackend & Partial<ListingBackend>,
    { policies, ban }: Keyspaces,
    prefix: string,
    deadlineMs: number | undefined,
    terms: KeptTerms,
  ) {
    this.backend = backend
    this.keyspaces = policies.concat(ban ?? [])
    this.ban = ban?.limit
    this.prefix = prefix
    this.deadlineMs = deadlineMs
    this.terms = terms.of(backend.list === undefined ? [] : this.keyspaces, prefix)
  }

  async consume(charges: readonly Charge[]): Promise<StoreResult> {
    const [result] = await this.consumeAll([charges])
    if (result instanceof Error) throw result
    return result as StoreResult
  }

  async consumeAll(requests: readonly (readonly Charge[])[]): Promise<(StoreResult | Error)[]> {
    const names = requests.flatMap((charges) => this.names(charges))
    const decide = (states: TransactionStates, now: number) =>
      requests.map((charges) => orError(() => this.charge(states, charges, now)))
    const results = await this.transact(names, decide, (decided) => !decided.every(isAdmitted))
    if (performance.now() >= this.terms.dueAt) this.terms.keep()
    return results
  }

  peek(charges: readonly Charge[]): Promise<StoreResult> {
    const names = this.names(charges)
    return this.transact(names, (states, now) => this.decide(states, charges, names, now, true))
  }

  async settle(
    charges: readonly Charge[],
    chargedAt?: number,
    _source?: DecisionSource,
    raised?: (raise: Raise) => void,
  ): Promise<void> {
    const named = charges.map((charge, i) => ({ ...charge, key: this.name(charge.key, i) }))
    const raises = await this.transact(named.map(keyOf), (states, now) => {
      const each: Raise[] | undefined = raised && []
      for (const [i, charge] of named.entries()) {
        const state = states.of(charge.key)
        if (settleOne(state, charge, now, chargedAt ?? now, each, i) === 'nothing') continue
        states.put(charge.key, state, keepMsOf(state, charge.limit, now))
      }
      return each
    })
    if (raised !== undefined) for (const raise of raises as Raise[]) raised(raise)
  }

  renew(requests: readonly (readonly Charge[])[]): Promise<void> {
    const renewals = renewalsOf(requests)
    const names = renewals.map(({ key, place }) => this.name(key, place))
    return this.transact(names, (states, now) => {
      for (const [i, renewal] of renewals.entries()) {
        const name = names[i] as string
        if (!states.isReadable(name)) continue
        const state = states.of(name)
        if (renewOne(state, renewal, now))
          states.put(name, state, keepMsOf(state, renewal.limit, now))
      }
    })
  }

  async block(key: string, durationMs: number): Promise<void> {
    const names = this.names([{ key }])
    await this.transact(names, (states, now) => {
      for (const name of names) {
        const blocked = states.emptied(name, now)
        blocked.blockedUntil = now + durationMs
        states.put(name, blocked, withTerms(durationMs, blocked, now))
      }
    })
    if (performance.now() >= this.terms.dueAt) this.terms.keep()
  }

  reset(key: string): Promise<void> {
    const names = this.names([{ key }])
    return this.transact(names, (states, now) => {
      for (const name of names) {
        const full = states.emptied(name, now)
        states.put(name, full, withTerms(0, full, now))
      }
    })
  }

  override(
    place: number,
    key: string,
    limit: CompiledLimit,
    override: Override | undefined,
  ): Promise<void> {
    const name = this.name(key, place)
    return this.transact([name], (states, now) => {
      const state = states.of(name)
      state.terms = withOverride(state.terms, override, now)
      states.put(name, state, withOwnMs(state, limit, now))
    })
  }

  grant(place: number, key: string, limit: CompiledLimit, given: GivenGrant): Promise<GrantResult> {
    const name = this.name(key, place)
    return this.transact([name], (states, now) => {
      const state = states.of(name)
      const terms = withGrant(state, limit, given, now)
      if (typeof terms === 'string') return terms
      state.terms = terms
      states.put(name, state, withOwnMs(state, limit, now))
      return 'granted'
    })
  }

  private decide(
    states: TransactionStates,
    charges: readonly Charge[],
    names: readonly string[],
    now: number,
    isPeek: boolean,
  ): StoreResult {
    const loaded = names.map((name) => states.of(name))
    const ban = this.ban && { limit: this.ban, state: loaded.pop() as KeyState }
    const admitted = decideAll(loaded, charges, now, ban, isPeek)
    const outcomes = loaded.map(outcomeOf)
    return { admitted, at: now, source: 'store', outcomes, ban: ban && outcomeOf(ban.state) }
  }

  private charge(states: TransactionStates, charges: readonly Charge[], now: number): StoreResult {
    const names = this.names(charges)
    const result = this.decide(states, charges, names, now, false)
    for (const [i, name] of names.entries()) {
      const state = states.of(name)
      const charge = charges[i] ?? { key: name, limit: this.ban as CompiledLimit, cost: 0 }
      const kept = commitOne(state, charge, now, result.admitted ? charge.cost : 0)
      // What is full by now is kept too: it counts again if the clock steps back once more.
      if (kept || state.counted)
        states.put(name, state, Math.max(1, keepMsOf(state, charge.limit, now)))
      else states.restore(name)
    }
    return result
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
  private names(charges: readonly Pick<Charge, 'key'>[]): string[] {
    return this.keyspaces.map((_, i) => this.name(keyOf((charges[i] ?? charges[0]) as Charge), i))
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
  private readonly changed = new Map<string, Change>()

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

  /** A state that has counted nothing, with what its client has of its own. */
  emptied(key: string, now: number): KeyState {
    const state = new KeyState()
    if (this.isReadable(key)) state.terms = unended(this.of(key).terms, now)
    return state
  }

  isReadable(key: string): boolean {
    return !(orError(() => this.of(key)) instanceof Error)
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

  changes(): Change[] {
    return [...this.changed.values()]
  }
}

/**
 * How long a state must be kept, ms, of which only what its client has of its own has changed. Its count or block,
 * which may have ended, is left to the sweeper: a clock that steps back makes it apply again.
 */
function withOwnMs(state: KeyState, limit: CompiledLimit, now: number): number {
  const { a, b, c, blockedUntil, log } = state
  const isUsed = a !== 0 || b !== 0 || c !== 0 || blockedUntil > 0 || log !== undefined
  return Math.max(keepMsAt(state, limit, now), isUsed ? 1 : 0)
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

function keyOf({ key }: Charge): string {
  return key
}
