import { addressKey } from '@sluice/core'

/**
 * Numbers clients in the order in which they appear, from 0. Addresses are counted as the
 * middleware counts them, IPv6 by its /56, however they are written; any other text as it is.
 */
export class Clients {
  private readonly numbers = new Map<string, number>()
  private readonly keys: string[] = []

  get count(): number {
    return this.keys.length
  }

  number(text: string): number {
    const known = this.numbers.get(text)
    if (known !== undefined) return known
    const key = addressKey(text) ?? text
    const number = this.numbers.get(key)
    if (number !== undefined) return number
    this.numbers.set(key, this.keys.length)
    return this.keys.push(key) - 1
  }

  key(number: number): string {
    return this.keys[number] as string
  }
}
