import { type CompiledLimit, KeyState } from '../../algorithms/algorithm.ts'
import { warnOnce } from '../../errors/warning.ts'
import { decideAll } from '../rules/decide-all.ts'
import type { Charge, StoreResult } from '../store.ts'
import { toSetupError } from './setup-error.ts'

/** Bytes of the time in front, and of each charge: see decide.lua.ts. */
const TIME = 8
const STATE = 32

/**
 * What decide.lua.ts decided: on the states that it returns the step in TypeScript comes to the same.
 * An error concerns its own request alone.
 *
 * @param isPeek whether nothing was to be charged, nor counted
 */
export function readReply(
  reply: unknown,
  requests: readonly (readonly Charge[])[],
  ban?: CompiledLimit,
  isPeek = false,
): (StoreResult | Error)[] {
  const { buffer, byteOffset, byteLength } = (Array.isArray(reply) ? reply[0] : reply) as Uint8Array
  const failures: unknown[] = Array.isArray(reply) ? reply.slice(1) : []
  const bytes = new DataView(buffer, byteOffset, byteLength)
  const at = bytes.getFloat64(0, true)
  let from = TIME
  return requests.map((charges) => {
    let failure: Error | undefined
    const read = (charge: Pick<Charge, 'limit'>) => {
      const first = from
      from += STATE
      // What Redis said of the keys that can't be read comes in their order.
      if (bytes.getFloat64(first, true) === -Infinity) failure = unreadable(failures.shift(), at)
      return keepsLog(charge) ? toDecided(bytes, first, at) : toState(bytes, first, at)
    }
    const outcomes = charges.map(read)
    const banning = ban && { limit: ban, state: read({ limit: ban }) }
    if (failure !== undefined) return failure
    const decidable = charges.some(keepsLog) ? charges.map(asDecided) : charges
    const admitted = decideAll(outcomes, decidable, at, banning, isPeek)
    return { admitted, at, source: 'store', outcomes, ban: banning?.state }
  })
}

function keepsLog({ limit }: Pick<Charge, 'limit'>): boolean {
  return limit.algorithm.keepsLog
}

/** What the script has decided, since it alone sees the entries of a log. */
const DECIDED: Pick<CompiledLimit, 'decide' | 'commit'> = { decide() {}, commit() {} }

function asDecided(charge: Charge) {
  return keepsLog(charge) ? { ...charge, cost: 0, limit: DECIDED } : charge
}

function toDecided(bytes: DataView, from: number, at: number): KeyState {
  const remaining = bytes.getFloat64(from, true)
  const waitMs = bytes.getFloat64(from + 16, true)
  const state = new KeyState()
  state.admitted = remaining >= 0
  state.remaining = state.admitted ? remaining : -1 - remaining
  state.resetMs = bytes.getFloat64(from + 8, true)
  state.effectiveMs = waitMs < 0 ? Infinity : waitMs
  state.retryAfterMs = state.admitted ? 0 : state.effectiveMs
  if (bytes.getFloat64(from + 24, true) === 1) state.blockedUntil = at + state.resetMs
  return state
}

function toState(bytes: DataView, from: number, at: number): KeyState {
  const state = new KeyState()
  const a = bytes.getFloat64(from, true)
  const b = bytes.getFloat64(from + 8, true)
  if (a < 0) {
    state.blockedUntil = at + b
    return state
  }
  state.a = a
  state.b = b
  state.c = bytes.getFloat64(from + 16, true)
  return state
}

/** @param at ms, on the server's clock */
function unreadable(said: unknown, at: number): Error {
  const text = String(said)
  // By calendar-window.lua. The store works for everything else, so nothing else would tell.
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
