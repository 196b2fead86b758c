import { createHash } from 'node:crypto'
import { addressKey } from '@sluice/core'
import { ByteIndex } from './byte-index.ts'

/**
 * The most characters of a key. A longer one is kept as its beginning and a digest, so that it can't fill the
 * memory.
 */
const LONGEST = 256
const BEGINNING = 64

/**
 * Numbers clients in the order in which they appear, from 0. Addresses are counted as the
 * middleware counts them, IPv6 by its /56, however they are written; any other text as it is.
 */
export class Clients {
  readonly #numbers = new Map<string, number>()
  readonly #keys: string[] = []
  readonly #index = new ByteIndex()

  get count(): number {
    return this.#keys.length
  }

  number(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    const key = shortened(addressKey(text) ?? text)
    const number = this.#numbers.get(key)
    if (number !== undefined) return number
    this.#numbers.set(key, this.#keys.length)
    return this.#keys.push(key) - 1
  }

  /** The number of the client whose text stands between two places of a log, in Latin-1. */
  numberOf(bytes: Buffer, start: number, end: number): number {
    const found = this.#index.find(bytes, start, end)
    if (found >= 0) return found
    const text = bytes.toString('latin1', start, end)
    const number = this.number(text)
    // There may be many other spellings: none of them is kept.
    if (this.key(number) === text) this.#index.add(bytes, start, end, number)
    return number
  }

  key(number: number): string {
    return this.#keys[number] as string
  }
}

function shortened(key: string): string {
  if (key.length <= LONGEST) return key
  // A copy: a slice would keep the whole text in memory.
  const beginning = Buffer.from(key.slice(0, BEGINNING)).toString()
  return `${beginning}… ${createHash('sha256').update(key).digest('hex')}`
}
