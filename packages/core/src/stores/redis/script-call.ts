import type { CompiledLimit, Outcome } from '../../algorithms/algorithm.ts'
import type { StoreResult } from '../store.ts'
import { toSetupError } from './setup-error.ts'

export type Operation = 'consume' | 'peek' | 'settle' | 'probe' | 'block' | 'reset'

/** What the script returns: driver.lua documents its form. Some clients give numbers as text. */
export type Reply = readonly unknown[]

/** Numbers that the driver sends back for each key. */
const WIDTH = 4

/** The keys and charges of one run of the script: driver.lua documents their form. */
export class ScriptCall {
  readonly keys: string[] = []
  /** Of the keys, from 1. */
  private readonly numbers = new Map<string, number>()
  private readonly charges: number[] = []
  private readonly quotas: CompiledLimit[] = []

  /** @param quota undefined for the operations that know none */
  add(key: string, quota: CompiledLimit | undefined, units: number): void {
    let number = this.numbers.get(key)
    if (number === undefined) {
      number = this.keys.push(key)
      this.numbers.set(key, number)
    }
    this.charges.push(number, this.numberOf(quota), units)
  }

  /**
   * The script's argument.
   * @param policies charges of each request
   */
  input(
    op: Operation,
    now: number,
    minTtl: number,
    policies: number,
    step: (quota: CompiledLimit) => number,
    chargedAt = -1,
  ): string {
    const { charges, quotas } = this
    const steps = quotas.map(step)
    const numbers = quotas.map((quota) => quota.numbers)
    const told = this.isRegular(policies) ? { units: charges[2] } : { charges }
    return JSON.stringify({ op, now, policies, steps, quotas: numbers, ...told, chargedAt, minTtl })
  }

  private numberOf(quota: CompiledLimit | undefined): number {
    if (quota === undefined) return 0
    const number = this.quotas.indexOf(quota) + 1
    return number === 0 ? this.quotas.push(quota) : number
  }

  /** Whether the n-th charge is of the n-th key, the quotas take turns, and all units are the same. */
  private isRegular(policies: number): boolean {
    const { charges } = this
    for (let i = 0; i < charges.length; i += 3) {
      const at = i / 3
      if (charges[i] !== at + 1 || charges[i + 1] !== (at % policies) + 1) return false
      if (charges[i + 2] !== charges[2]) return false
    }
    return true
  }
}

/**
 * What the script's reply says of the request whose first charge was number `first` (from 0).
 *
 * @throws if one of its keys can't be read
 */
export function toRuling(reply: Reply, first: number, policies: number): StoreResult {
  // An array that starts with its element takes less than one that grows.
  const outcomes = [toOutcome(reply, first)]
  for (let i = first + 1; i < first + policies; i += 1) outcomes.push(toOutcome(reply, i))
  let admitted = true
  for (const outcome of outcomes) if (!outcome.admitted) admitted = false
  return { admitted, at: Number(reply[0]), source: 'store', outcomes }
}

function toOutcome(reply: Reply, charge: number): Outcome {
  const at = 1 + charge * WIDTH
  const delayMs = Number(reply[at])
  if (Number.isNaN(delayMs)) throw toSetupError(new Error(String(reply[at])), false)
  const waitMs = Number(reply[at + 3])
  const effectiveMs = waitMs < 0 ? Infinity : waitMs
  return {
    admitted: delayMs >= 0,
    remaining: Number(reply[at + 1]),
    resetMs: Number(reply[at + 2]),
    retryAfterMs: delayMs < 0 ? effectiveMs : 0,
    effectiveMs,
    delayMs: Math.max(0, delayMs),
  }
}
