import { SluiceError } from '@sluice/core'

/** Money is counted in millionths, tokens one by one. */
const MILLION = 1_000_000
/** Decimal digits that a double has for certain: the others are noise of its arithmetic. */
const DIGITS = 15

/** Amounts of a budget as integers: millionths of a currency, or tokens. */
export class Money {
  readonly unit: string
  /** The name of the integers in events, and for the command. */
  readonly counted: string
  readonly #scale: number

  /** @throws SluiceError if it is no currency, nor tokens */
  constructor(unit: unknown) {
    const isTokens = unit === 'tokens'
    if (!isTokens && (typeof unit !== 'string' || !/^[a-z]{3}$/.test(unit)))
      throw wrong('unit', "a currency such as 'usd', or 'tokens'", unit, "Write unit: 'usd'.")
    this.unit = unit as string
    this.counted = isTokens ? 'tokens' : `micro-${this.unit}`
    this.#scale = isTokens ? 1 : MILLION
  }

  /** The integer of a cost, rounded up: what a call costs is never given away. Undefined if there is none. */
  ofCost(cost: unknown): number | undefined {
    if (typeof cost !== 'number' || !(cost >= 0)) return undefined
    const product = cost * this.#scale
    const units = Number.isInteger(product) ? product : Math.ceil(+product.toPrecision(DIGITS))
    return units <= Number.MAX_SAFE_INTEGER ? units : undefined
  }

  /**
   * The integer of a limit, rounded down.
   * @throws SluiceError if it is no amount from 0 to 2^53 − 1 integers
   */
  ofLimit(option: string, amount: unknown): number {
    const units = Math.floor(+((amount as number) * this.#scale).toPrecision(DIGITS + 1))
    if (typeof amount === 'number' && units >= 0 && units <= Number.MAX_SAFE_INTEGER) return units
    const most = Math.floor(Number.MAX_SAFE_INTEGER / this.#scale)
    const expected = `an amount of ${this.unit} from 0 to ${most}`
    throw wrong(option, expected, amount, `Give ${option} as a number: 20 is 20 ${this.unit}.`)
  }

  /**
   * The integer of an amount with its unit, such as `'2 USD'`, or of a number.
   * @throws SluiceError
   */
  ofText(option: string, amount: unknown): number {
    if (typeof amount !== 'string') return this.ofLimit(option, amount)
    const [, digits, unit] = /^(\d+(?:\.\d+)?) ?([a-z]+)$/i.exec(amount) ?? []
    if (unit?.toLowerCase() === this.unit) return this.ofLimit(option, Number(digits))
    const expected = `an amount of ${this.unit}`
    throw wrong(option, expected, amount, `Write ${option}: '2 ${this.unit.toUpperCase()}'.`)
  }

  /** The nearest number to an integer amount. */
  readonly shown = (units: number): number => units / this.#scale
}

export function wrong(option: string, expected: string, received: unknown, fix: string) {
  return new SluiceError({ code: 'SLUICE_OPTION_VALUE', option, expected, received, fix })
}
