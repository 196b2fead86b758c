import type { Outcome, Quota } from '../../algorithms/algorithm.ts'
import type { Ruling } from '../store.ts'
import { explained } from './failure.ts'

export type Operation = 'consume' | 'peek' | 'settle' | 'block' | 'reset'

/** What the script returns: driver.lua documents its form. Some clients give numbers as text. */
export type Reply = readonly unknown[]

/** Numbers that the driver sends back for each key. */
const WIDTH = 5

/** The keys and charges of one run of the script: driver.lua documents their form. */
export class Call {
  readonly keys: string[] = []
  private readonly charges: number[] = []
  private readonly quotas: Quota[] = []

  add(key: string, quota: Quota, units: number): void {
    let number = this.quotas.indexOf(quota) + 1
    if (number === 0) number = this.quotas.push(quota)
    this.keys.push(key)
    this.charges.push(number, units)
  }

  /** For the operations that know no quota. */
  addKey(key: string, units: number): void {
    this.keys.push(key)
    this.charges.push(0, units)
  }

  /** The script's argument. */
  input(
    op: Operation,
    now: number,
    minTtl: number,
    policies: number,
    step: (quota: Quota) => number,
    chargedAt = -1,
  ): string {
    const { quotas, charges } = this
    const steps = quotas.map(step)
    const numbers = quotas.map((quota) => quota.numbers)
    return JSON.stringify({ op, now, policies, steps, quotas: numbers, charges, chargedAt, minTtl })
  }
}

/**
 * What the script's reply says of the request whose first key was KEYS[first] (from 0).
 *
 * @throws if one of its keys can't be read
 */
export function toRuling(reply: Reply, first: number, policies: number): Ruling {
  const outcomes: Outcome[] = []
  let admitted = true
  for (let i = first; i < first + policies; i += 1) {
    const at = 1 + i * WIDTH
    const flag = Number(reply[at])
    if (Number.isNaN(flag)) throw explained(new Error(String(reply[at])))
    const waitMs = Number(reply[at + 3])
    const outcome = {
      admitted: flag === 1,
      remaining: Number(reply[at + 1]),
      resetMs: Number(reply[at + 2]),
      waitMs: waitMs < 0 ? Infinity : waitMs,
      delayMs: Number(reply[at + 4]),
    }
    if (!outcome.admitted) admitted = false
    outcomes.push(outcome)
  }
  return { admitted, at: Number(reply[0]), source: 'store', outcomes }
}
