import type { CompiledLimit } from '../../algorithms/algorithm.ts'

export type Operation = 'consume' | 'peek' | 'settle' | 'renew' | 'probe' | 'block' | 'reset'

/** The keys and charges of one run of driver.lua, which documents their form. */
export class ScriptCall {
  readonly keys: string[] = []
  /** Of the keys, from 1. */
  private readonly numbers = new Map<string, number>()
  private readonly charges: number[] = []
  private readonly slots: (number | readonly number[])[] = []
  private readonly limits: CompiledLimit[] = []

  /**
   * @param limit undefined for the operations that know none
   * @param slot 0: none; several only to renew them
   */
  add(
    key: string,
    limit: CompiledLimit | undefined,
    units: number,
    slot: number | readonly number[] = 0,
  ): void {
    let number = this.numbers.get(key)
    if (number === undefined) {
      number = this.keys.push(key)
      this.numbers.set(key, number)
    }
    this.charges.push(number, this.numberOf(limit), units)
    this.slots.push(slot)
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
    step: (limit: CompiledLimit) => number,
    chargedAt = -1,
  ): string {
    const { charges, limits } = this
    const steps = limits.map(step)
    const numbers = limits.map((limit) => limit.constants(now < 0 ? Date.now() : now))
    const listed = this.isRegular(policies) ? { units: charges[2] } : { charges }
    const slots = this.slots.some((slot) => slot !== 0) ? this.slots : undefined
    const common = { op, now, policies, steps, limits: numbers, slots, chargedAt, minTtl }
    return JSON.stringify({ ...common, ...listed })
  }

  private numberOf(limit: CompiledLimit | undefined): number {
    if (limit === undefined) return 0
    const number = this.limits.indexOf(limit) + 1
    return number === 0 ? this.limits.push(limit) : number
  }

  /** Whether the n-th charge is of the n-th key, the limits take turns, and all units are the same. */
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
