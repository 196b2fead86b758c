import { type CompiledLimit, KeyState } from '../../algorithms/algorithm.ts'
import { decideAll } from '../rules/decide-all.ts'
import type { Charge, StoreResult } from '../store.ts'
import { toSetupError } from './setup-error.ts'

/** Bytes of the time in front, and of each charge: see driver.lua. */
const TIME = 8
const STATE = 32

/**
 * What request.lua decided of a single request: it returns the states that it read, and the step in
 * TypeScript comes to the same on them.
 *
 * @throws if a key can't be read
 */
export function readRequest(reply: unknown, charges: readonly Charge[]): StoreResult {
  if (Array.isArray(reply)) throw unreadable(reply[1])
  const bytes = reply as Buffer
  const at = bytes.readDoubleLE(0)
  const states = [toState(bytes, TIME, at)]
  for (let i = 1; i < charges.length; i += 1) states.push(toState(bytes, TIME + i * STATE, at))
  return { admitted: decideAll(states, charges, at), at, source: 'store', outcomes: states }
}

/** What request.lua or driver.lua decided of several requests. An error concerns its own request alone. */
export function readBatch(
  reply: unknown,
  requests: readonly (readonly Charge[])[],
): (StoreResult | Error)[] {
  const [bytes, ...failures] = (Array.isArray(reply) ? reply : [reply]) as [Buffer, ...unknown[]]
  const at = bytes.readDoubleLE(0)
  let from = TIME
  return requests.map((charges) => {
    let failure: Error | undefined
    const states: KeyState[] = []
    const decisions = charges.map((charge) => {
      const { keepsLog } = charge.limit.algorithm
      if (bytes.readDoubleLE(from) === -Infinity) failure = unreadable(failures.shift())
      states.push(keepsLog ? toDecided(bytes, from, at) : toState(bytes, from, at))
      from += STATE
      return keepsLog ? { key: charge.key, cost: 0, limit: DECIDED } : charge
    })
    if (failure !== undefined) return failure
    return { admitted: decideAll(states, decisions, at), at, source: 'store', outcomes: states }
  })
}

/** What the script has decided, since it alone sees the entries of a log. */
const DECIDED: Pick<CompiledLimit, 'decide' | 'commit'> = { decide() {}, commit() {} }

function toDecided(bytes: Buffer, from: number, at: number): KeyState {
  const remaining = bytes.readDoubleLE(from)
  const waitMs = bytes.readDoubleLE(from + 16)
  const state = new KeyState()
  state.admitted = remaining >= 0
  state.remaining = state.admitted ? remaining : -1 - remaining
  state.resetMs = bytes.readDoubleLE(from + 8)
  state.effectiveMs = waitMs < 0 ? Infinity : waitMs
  state.retryAfterMs = state.admitted ? 0 : state.effectiveMs
  if (bytes.readDoubleLE(from + 24) === 1) state.blockedUntil = at + state.resetMs
  return state
}

function toState(bytes: Buffer, from: number, at: number): KeyState {
  const state = new KeyState()
  const a = bytes.readDoubleLE(from)
  const b = bytes.readDoubleLE(from + 8)
  if (a < 0) {
    state.blockedUntil = at + b
    return state
  }
  state.a = a
  state.b = b
  state.c = bytes.readDoubleLE(from + 16)
  return state
}

function unreadable(said: unknown): Error {
  return toSetupError(new Error(String(said)), false) as Error
}
