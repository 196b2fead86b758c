import { KeyState, type OwnTerms } from '../../algorithms/algorithm.ts'
import { warnOnce } from '../../errors/warning.ts'
import { type Decidable, decideAll, settleOne } from '../rules/decide-all.ts'
import { applyOwn, blockedMsOf } from '../rules/own-terms.ts'
import type { Charge, ChargeIncrease, StoreResult } from '../store.ts'
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
  requests: readonly (readonly Charge[])[],
  isPeek = false,
): (StoreResult | Error)[] {
  const { buffer, byteOffset, byteLength } = (Array.isArray(reply) ? reply[0] : reply) as Uint8Array
  const failures: unknown[] = Array.isArray(reply) ? reply.slice(1) : []
  const bytes = new DataView(buffer, byteOffset, byteLength)
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
    let decidable: readonly Decidable[] = charges
    let known: (OwnTerms | undefined)[] | undefined
    for (let i = 0; i < charges.length; i += 1) {
      const { algorithm } = (charges[i] as Charge).limit
      // The errors of keys that can't be read come in their order.
      if (bytes.getFloat64(from, true) === -Infinity) failure = unreadable(failures.shift(), at)
      const isDecided = algorithm.keepsLog || FULL.has(bytes.getFloat64(from + 24, true))
      if (isDecided) decidable = decidable.map((each, k) => (k === i ? asDecided(each) : each))
      const state = isDecided ? toDecided(bytes, from, at) : toState(bytes, from, at)
      outcomes.push(state)
      if (OWN_MARKS.has(bytes.getFloat64(from + 24, true))) {
        const terms = { ...termsIn(bytes, termsAt), blockedUntil: state.terms?.blockedUntil ?? 0 }
        termsAt += TERMS
        if (!isDecided) state.terms = terms
        else {
          known ??= []
          known[i] = terms
        }
      }
      from += STATE
    }
    const admitted = failure === undefined && decideAll(outcomes, decidable, at, isPeek)
    // The step has used them already.
    known?.forEach((terms, i) => {
      const state = outcomes[i] as KeyState
      state.terms = terms
      applyOwn(state, (charges[i] as Charge).limit, at)
    })
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
    const state = toState(bytes, from, at)
    const { keepsLog, reserves } = charge.limit.algorithm
    let [corrected, since] = [charge, chargedAt < 0 ? at : chargedAt]
    if (reserves) {
      const { key, limit } = charge
      corrected = { key, limit, cost: bytes.getFloat64(correctedAt, true) }
      since = bytes.getFloat64(correctedAt + 8, true)
      correctedAt += CORRECTED
    }
    if (OWN_MARKS.has(bytes.getFloat64(from + 24, true))) {
      state.terms = { ...termsIn(bytes, termsAt), blockedUntil: state.terms?.blockedUntil ?? 0 }
      termsAt += TERMS
    }
    if (blockedMsOf(state.terms, at) > 0) continue
    if (keepsLog) {
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

/** The limit that a client has of its own at this moment, as state.lua.ts has written it. */
function termsIn(bytes: DataView, from: number): Omit<OwnTerms, 'blockedUntil'> {
  const number = (i: number) => bytes.getFloat64(from + 8 * i, true)
  const option = (i: number) => (number(i) < 0 ? undefined : number(i))
  const [until, limit, units] = [number(0), number(1), number(4)] as [number, number, number]
  return {
    override: until > 0 ? { until, limit, burst: option(2), maxDelayMs: option(3) } : undefined,
    grants: units > 0 ? [{ until: number(5), units, id: '' }] : [],
  }
}

/** The script alone decided, since it alone sees the entries of a log. */
const DECIDED = { algorithm: {}, decide() {}, commit() {} }

function asDecided(charge: Decidable): Decidable {
  return { ...charge, cost: 0, limit: DECIDED }
}

/** The last number of a key whose client has something of its own, and of one that is blocked. */
const OWN_MARKS = new Set([-1, -2, -3])
/** The last number of a blocked key, without and with something of its client's own. */
const BLOCKED = new Set([1, -2])
/** The last number of a key that has too many reservations, without and with the same: see reserved.lua.ts. */
const FULL = new Set([2, -3])

function toDecided(bytes: DataView, from: number, at: number): KeyState {
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
  if (BLOCKED.has(bytes.getFloat64(from + 24, true))) state.terms = blocked(at + state.resetMs)
  return state
}

function toState(bytes: DataView, from: number, at: number): KeyState {
  const state = new KeyState()
  const a = bytes.getFloat64(from, true)
  const b = bytes.getFloat64(from + 8, true)
  if (a < 0) {
    state.terms = blocked(at + b)
    return state
  }
  state.a = a
  state.b = b
  state.c = bytes.getFloat64(from + 16, true)
  return state
}

function blocked(blockedUntil: number): OwnTerms {
  return { override: undefined, grants: [], blockedUntil }
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
