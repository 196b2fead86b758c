import { type CompiledLimit, KeyState } from '../../algorithms/algorithm.ts'
import { warnOnce } from '../../errors/warning.ts'
import { type Decidable, decideAll } from '../rules/decide-all.ts'
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
  const results: (StoreResult | Error)[] = []
  let from = TIME
  for (const charges of requests) {
    const outcomes: KeyState[] = []
    let failure: Error | undefined
    let decidable: readonly Decidable[] = charges
    // The ban comes behind the policies.
    for (let i = 0; i < charges.length + (ban === undefined ? 0 : 1); i += 1) {
      const { algorithm } = charges[i]?.limit ?? (ban as CompiledLimit)
      // What Redis said of the keys that can't be read comes in their order.
      if (bytes.getFloat64(from, true) === -Infinity) failure = unreadable(failures.shift(), at)
      if (algorithm.keepsLog) decidable = charges.map(asDecided)
      outcomes.push(algorithm.keepsLog ? toDecided(bytes, from, at) : toState(bytes, from, at))
      from += STATE
    }
    const banning = ban && { limit: ban, state: outcomes.pop() as KeyState }
    const admitted = failure === undefined && decideAll(outcomes, decidable, at, banning, isPeek)
    results.push(failure ?? { admitted, at, source: 'store', outcomes, ban: banning?.state })
  }
  return results
}

/** What the script has decided, since it alone sees the entries of a log. */
const DECIDED: Pick<CompiledLimit, 'decide' | 'commit'> = { decide() {}, commit() {} }

function asDecided(charge: Charge): Decidable {
  const { keepsLog } = charge.limit.algorithm
  return keepsLog ? { ...charge, cost: 0, limit: DECIDED } : charge
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
