import { KeyState, type OwnTerms } from '../../algorithms/algorithm.ts'
import { OUTCOME } from '../../algorithms/lua-step.ts'
import { warnOnce } from '../../errors/warning.ts'
import { decideAll, settleOne } from '../rules/decide-all.ts'
import { applyOwn, blockedMsOf } from '../rules/own-terms.ts'
import type { Charge, ChargeIncrease, Requests, StoreResult } from '../store.ts'
import { EXCESS } from './decide.lua.ts'
import { toSetupError } from './setup-error.ts'

/** Bytes of the time in front, and of each charge: see decide.lua.ts. */
const TIME = 8
const STATE = 32
/** Bytes of a client's own record. */
const TERMS = 48
/** Bytes of a correction that the script has found: by how much, and since when. */
const CORRECTED = 16

/**
 * Reads the decisions of decide.lua.ts: on the states that it returns the step in TypeScript comes to the same.
 * An error concerns its own request alone.
 *
 * @param isPeek whether nothing was to be charged, nor counted
 */
export function readReply(
  reply: unknown,
  requests: Requests,
  isPeek = false,
): (StoreResult | Error)[] {
  const { buffer, byteOffset, byteLength } = (Array.isArray(reply) ? reply[0] : reply) as Uint8Array
  const bytes = new DataView(buffer, byteOffset, byteLength)
  const failures: unknown[] = Array.isArray(reply) ? reply.slice(1) : []
  const at = bytes.getFloat64(0, true)
  const results: (StoreResult | Error)[] = []
  let count = 0
  for (const charges of requests) count += charges.length
  /** The offset of the next client's own record. */
  let termsAt = TIME + STATE * count
  let from = TIME
  for (const charges of requests) {
    const outcomes: KeyState[] = []
    let failure: Error | undefined
    let decided: Set<KeyState> | undefined
    for (let i = 0; i < charges.length; i += 1) {
      const tag = bytes.getFloat64(from + 24, true)
      const kind = tag < 0 ? 2 * Math.ceil(tag / 2) : OUTCOME.state
      // The errors of keys that can't be read come in their order.
      if (kind === OUTCOME.unreadable) failure = unreadable(failures.shift(), at)
      const state =
        kind === OUTCOME.decided ? toDecided(bytes, from) : toState(bytes, from, at, kind)
      outcomes.push(state)
      if (tag !== kind && tag < 0) {
        state.terms = termsIn(bytes, termsAt, state)
        termsAt += TERMS
      }
      if (kind === OUTCOME.decided) {
        decided ??= new Set()
        decided.add(state)
        if (state.terms !== undefined) applyOwn(state, (charges[i] as Charge).limit, at)
      }
      from += STATE
    }
    const admitted = failure === undefined && decideAll(outcomes, charges, at, isPeek, decided)
    results.push(failure ?? { admitted, at, source: 'store', outcomes })
  }
  return results
}

/**
 * How correct.lua.ts has raised charges: on the states that it returns the step in TypeScript comes to the same.
 *
 * @param chargedAt when the charges were made, ms; -1: at the time of the settlement
 */
export function readIncreases(
  reply: unknown,
  charges: readonly Charge[],
  chargedAt: number,
): ChargeIncrease[] {
  const { buffer, byteOffset, byteLength } = reply as Uint8Array
  const bytes = new DataView(buffer, byteOffset, byteLength)
  const at = bytes.getFloat64(0, true)
  const increases: ChargeIncrease[] = []
  let correctedAt = TIME + STATE * charges.length
  let termsAt = charges.reduce(
    (end, { limit }) => end + (limit.algorithm.reserves ? CORRECTED : 0),
    correctedAt,
  )
  for (const [place, charge] of charges.entries()) {
    const from = TIME + place * STATE
    const tag = bytes.getFloat64(from + 24, true)
    const kind = tag < 0 ? 2 * Math.ceil(tag / 2) : OUTCOME.state
    const state = toState(bytes, from, at, kind)
    const { reserves } = charge.limit.algorithm
    let [corrected, since] = [charge, chargedAt < 0 ? at : chargedAt]
    if (reserves) {
      const { key, limit } = charge
      corrected = { key, limit, cost: bytes.getFloat64(correctedAt, true) }
      since = bytes.getFloat64(correctedAt + 8, true)
      correctedAt += CORRECTED
    }
    if (tag !== kind && tag < 0) {
      state.terms = termsIn(bytes, termsAt, state)
      termsAt += TERMS
    }
    if (blockedMsOf(state.terms, at) > 0) continue
    if (kind === OUTCOME.decided) {
      const { a: before, b: left, c: resetMs } = state
      const [remaining, excess] = [Math.max(0, left), Math.max(0, -left)]
      const { units: limit } = applyOwn(state, charge.limit, at)
      if (remaining < before)
        increases.push({ place, before, remaining, excess, resetMs, limit, at })
    } else {
      settleOne(state, corrected, at, since, increases, place)
    }
  }
  return increases
}

/** What a client has of its own at this moment, as state.lua.ts has written it. @param state says whether it is blocked */
function termsIn(bytes: DataView, from: number, { terms }: KeyState): OwnTerms {
  const number = (i: number) => bytes.getFloat64(from + 8 * i, true)
  const option = (i: number) => (number(i) < 0 ? undefined : number(i))
  const [until, limit, units] = [number(0), number(1), number(4)] as [number, number, number]
  return {
    override: until > 0 ? { until, limit, burst: option(2), maxDelayMs: option(3) } : undefined,
    grants: units > 0 ? [{ until: number(5), units, id: '' }] : [],
    blockedUntil: terms?.blockedUntil ?? 0,
  }
}

function toDecided(bytes: DataView, from: number): KeyState {
  const remaining = bytes.getFloat64(from, true)
  const waitMs = bytes.getFloat64(from + 16, true)
  const state = new KeyState()
  state.admitted = remaining >= 0
  const refused = -1 - remaining
  state.remaining = state.admitted ? remaining : Math.floor(refused)
  state.excess = state.admitted ? 0 : (refused - state.remaining) * EXCESS
  state.resetMs = bytes.getFloat64(from + 8, true)
  state.effectiveMs = waitMs < 0 ? Infinity : waitMs
  state.retryAfterMs = state.admitted ? 0 : state.effectiveMs
  return state
}

function toState(bytes: DataView, from: number, at: number, kind: number): KeyState {
  const state = new KeyState()
  const b = bytes.getFloat64(from + 8, true)
  if (kind === OUTCOME.blocked) {
    state.terms = { override: undefined, grants: [], blockedUntil: at + b }
    return state
  }
  state.a = bytes.getFloat64(from, true)
  state.b = b
  state.c = bytes.getFloat64(from + 16, true)
  return state
}

/** @param at ms, on the server's clock */
function unreadable(said: unknown, at: number): Error {
  const text = String(said)
  // By `check` of calendar-window.ts. The store works for everything else, so nothing else would tell.
  if (text.includes('clocks of this process')) warnOfClocks(Date.now() - at)
  return toSetupError(new Error(text), false) as Error
}

function warnOfClocks(aheadMs: number): void {
  const apart = `${Math.round(Math.abs(aheadMs) / 3_600_000)} h ${aheadMs > 0 ? 'ahead of' : 'behind'}`
  warnOnce(
    'SLUICE_CLOCK_SKEW',
    `The clock of this process is ${apart} that of Redis. So Redis does not decide policies whose window is ` +
      'a day, a week or a month of the calendar: onStoreError does, in this process alone. Set the clock right.',
  )
}
