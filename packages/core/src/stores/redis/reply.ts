import { type CompiledLimit, KeyState } from '../../algorithms/algorithm.ts'
import { decideAll } from '../rules/decide-all.ts'
import type { Charge, StoreResult } from '../store.ts'
import { stateSize } from './compose.ts'
import { toSetupError } from './setup-error.ts'

/** Numbers that driver.lua returns for each charge, behind the time. */
const WIDTH = 3

/**
 * What request.lua decided: it returns the states that it read, and the step in TypeScript comes to
 * the same on them.
 *
 * @throws if a key can't be read
 */
export function readRequest(reply: unknown, charges: readonly Charge[]): StoreResult {
  const numbers = String(reply).split(' ').map(Number)
  const at = numbers[0] as number
  if (Number.isNaN(at)) throw unreadable(reply)
  let next = 1
  const states = charges.map(({ limit }) => {
    const size = stateSize(limit.algorithm)
    const [a, b, c] = numbers.slice(next, next + size)
    next += size
    return toState(at, a as number, b as number, c ?? 0)
  })
  return { admitted: decideAll(states, charges, at), at, source: 'store', outcomes: states }
}

/**
 * What driver.lua decided of the request whose first charge was number `first` (from 0).
 *
 * @throws if one of its keys can't be read
 */
export function readBatch(
  reply: readonly unknown[],
  first: number,
  charges: readonly Charge[],
): StoreResult {
  const at = Number(reply[0])
  const states: KeyState[] = []
  const decisions = charges.map((charge, i) => {
    const place = 1 + (first + i) * WIDTH
    const a = Number(reply[place])
    if (Number.isNaN(a)) throw unreadable(reply[place])
    const [b, c] = [Number(reply[place + 1]), Number(reply[place + 2])]
    const { keepsLog } = charge.limit.algorithm
    states.push(keepsLog ? toDecided(a, b, c) : toState(at, a, b, c))
    return keepsLog ? DECIDED : charge
  })
  return { admitted: decideAll(states, decisions, at), at, source: 'store', outcomes: states }
}

/** What the script has decided, since it alone sees the entries of a log. */
const DECIDED: { cost: number; limit: Pick<CompiledLimit, 'decide'> } = {
  cost: 0,
  limit: { decide() {} },
}

function toDecided(remaining: number, resetMs: number, waitMs: number): KeyState {
  const state = new KeyState()
  state.admitted = remaining >= 0
  state.remaining = state.admitted ? remaining : -1 - remaining
  state.resetMs = resetMs
  state.effectiveMs = waitMs < 0 ? Infinity : waitMs
  state.retryAfterMs = state.admitted ? 0 : state.effectiveMs
  return state
}

function toState(at: number, a: number, b: number, c: number): KeyState {
  const state = new KeyState()
  if (a < 0) {
    state.blockedUntil = at + b
    return state
  }
  state.a = a
  state.b = b
  state.c = c
  return state
}

function unreadable(said: unknown): unknown {
  return toSetupError(new Error(String(said)), false)
}
