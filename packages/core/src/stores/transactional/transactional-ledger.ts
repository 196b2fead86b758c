import type { CompiledLimit, KeyState, Outcome } from '../../algorithms/algorithm.ts'
import { subject } from '../redis/keys.ts'
import { commitOne, decideAll, keepMsOf, renewOne, settleOne } from '../rules/decide-all.ts'
import { renewalsOf } from '../rules/slots.ts'
import { decodeState, encodeState } from '../rules/state-bytes.ts'
import type { Charge, Keyspace, Keyspaces, Ledger, StoreResult } from '../store.ts'
import type { Change, TransactionalBackend } from './transactional-backend.ts'

/** Decides on the states of a backend that has transactions. */
export class TransactionalLedger implements Ledger<'async'> {
  private readonly backend: TransactionalBackend
  /** The keyspaces of the policies, then that of the ban. */
  private readonly keyspaces: readonly Keyspace[]
  private readonly ban: CompiledLimit | undefined
  private readonly prefix: string
  private readonly deadlineMs: number | undefined

  constructor(
    backend: TransactionalBackend,
    { policies, ban }: Keyspaces,
    prefix: string,
    deadlineMs: number | undefined,
  ) {
    this.backend = backend
    this.keyspaces = policies.concat(ban ?? [])
    this.ban = ban?.limit
    this.prefix = prefix
    this.deadlineMs = deadlineMs
  }

  async consume(charges: readonly Charge[]): Promise<StoreResult> {
    const [result] = await this.consumeAll([charges])
    if (result instanceof Error) throw result
    return result as StoreResult
  }

  consumeAll(requests: readonly (readonly Charge[])[]): Promise<(StoreResult | Error)[]> {
    return this.transact(requests.flatMap(this.names), (states, now) =>
      requests.map((charges) => orError(() => this.charge(states, charges, now))),
    )
  }

  peek(charges: readonly Charge[]): Promise<StoreResult> {
    const names = this.names(charges)
    return this.transact(names, (states, now) => this.decide(states, charges, names, now, true))
  }

  settle(charges: readonly Charge[], chargedAt?: number): Promise<void> {
    const named = charges.map((charge, i) => ({ ...charge, key: this.name(charge.key, i) }))
    return this.transact(named.map(keyOf), (states, now) => {
      for (const charge of named) settle(states, charge, now, chargedAt ?? now)
    })
  }

  renew(requests: readonly (readonly Charge[])[]): Promise<void> {
    const renewals = renewalsOf(requests)
    const names = renewals.map(({ key, place }) => this.name(key, place))
    return this.transact(names, (states, now) => {
      for (const [i, renewal] of renewals.entries()) {
        const name = names[i] as string
        if (!states.isReadable(name)) continue
        const state = states.of(name)
        if (renewOne(state, renewal, now)) states.keep(name, state.resetMs)
      }
    })
  }

  block(key: string, durationMs: number): Promise<void> {
    const names = this.names([{ key }])
    return this.transact(names, (states, now) => {
      for (const name of names) states.block(name, now + durationMs, durationMs)
    })
  }

  reset(key: string): Promise<void> {
    const names = this.names([{ key }])
    return this.transact(names, (states) => {
      for (const name of names) states.delete(name)
    })
  }

  private decide(
    states: States,
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

  private charge(states: States, charges: readonly Charge[], now: number): StoreResult {
    const names = this.names(charges)
    const result = this.decide(states, charges, names, now, false)
    for (const [i, name] of names.entries()) {
      const state = states.of(name)
      const charge = charges[i] ?? { key: name, limit: this.ban as CompiledLimit, cost: 0 }
      const kept = commitOne(state, charge, now, result.admitted ? charge.cost : 0)
      if (kept || state.counted) states.keep(name, keepMsOf(state, charge.limit, now))
    }
    return result
  }

  private transact<T>(names: readonly string[], work: (states: States, now: number) => T) {
    const sorted = [...new Set(names)].sort()
    const decide = (bytes: readonly (Uint8Array | undefined)[], now: number) => {
      const states = new States(sorted, bytes)
      return { value: work(states, now), changes: states.changes() }
    }
    return this.backend.transact(sorted, decide, this.deadlineMs)
  }

  /** The names of the keys of a request. Where there is no charge, as for a ban, it is the key of the first one. */
  private readonly names = (charges: readonly Pick<Charge, 'key'>[]): string[] => {
    return this.keyspaces.map((_, i) => this.name(keyOf((charges[i] ?? charges[0]) as Charge), i))
  }

  private name(key: string, place: number): string {
    const { prefix = this.prefix, name } = this.keyspaces[place] as Keyspace
    return `${prefix}:{${subject(key)}}:${name}`
  }
}

/** The states of a transaction, by the names of their keys. */
class States {
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

  isReadable(key: string): boolean {
    return !(orError(() => this.of(key)) instanceof Error)
  }

  /** @param ttlMs how long it must be kept */
  keep(key: string, ttlMs: number): void {
    this.changed.set(key, { key, state: encodeState(this.of(key)), ttlMs })
  }

  delete(key: string): void {
    this.states.set(key, decodeState(undefined))
    this.changed.set(key, { key, state: undefined, ttlMs: 0 })
  }

  block(key: string, until: number, ttlMs: number): void {
    const state = decodeState(undefined)
    state.blockedUntil = until
    this.states.set(key, state)
    this.changed.set(key, { key, state: encodeState(state), ttlMs })
  }

  changes(): Change[] {
    return [...this.changed.values()]
  }
}

function settle(states: States, charge: Charge, now: number, chargedAt: number): void {
  const state = states.of(charge.key)
  const settled = settleOne(state, charge, now, chargedAt)
  if (settled === 'keep') states.keep(charge.key, keepMsOf(state, charge.limit, now))
  else if (settled === 'delete') states.delete(charge.key)
}

function outcomeOf({
  admitted,
  remaining,
  resetMs,
  retryAfterMs,
  effectiveMs,
  delayMs,
  counted,
}: KeyState): Outcome {
  return { admitted, remaining, resetMs, retryAfterMs, effectiveMs, delayMs, counted }
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
