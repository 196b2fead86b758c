import type { OwnTerms } from '../../algorithms/algorithm.ts'
import { bounded, copied } from '../../key/digest.ts'
import { endOf } from '../rules/own-terms.ts'

/** Records that are looked at in one go, at most. */
const BATCH = 1000

/** How many clients of all policies have something of their own. */
export interface OwnCount {
  value: number
  readonly most: number
}

const NO_TERMS: ReadonlyMap<string, OwnTerms> = new Map()

/**
 * The clients' own limits, top-ups and blocks in one policy, for any window and algorithm. The application made each
 * limit and top-up, so none is ever dropped for another one: a store that has as many as it may drops a block that
 * ends soon, or refuses a further client.
 */
export class OwnTable {
  readonly prefix: string
  /** The name of the policy, as `ownKeyspace` has it. */
  readonly name: string
  /** A table that nobody uses takes no room for a map, and requests do not look into it. */
  terms: ReadonlyMap<string, OwnTerms> = NO_TERMS
  /** The earliest time at which a record can be dropped, ms. */
  dueAt = Infinity
  readonly #count: OwnCount
  /** Where the sweep goes on, and the earliest end that it has passed. */
  #hand: Iterator<[string, OwnTerms]> | undefined
  #earliest = Infinity

  constructor(prefix: string, name: string, count: OwnCount) {
    this.prefix = prefix
    this.name = name
    this.#count = count
  }

  get(key: string): OwnTerms | undefined {
    return this.terms.get(bounded(key))
  }

  /** @returns false if there is no room for a further client */
  set(key: string, terms: OwnTerms | undefined, now: number): boolean {
    const id = bounded(key)
    if (terms === undefined) {
      this.#drop(id)
      return true
    }
    const isKnown = this.terms.has(id)
    if (!isKnown && this.#count.value >= this.#count.most && !this.#displace(now)) return false
    const end = endOf(terms)
    this.dueAt = Math.min(this.dueAt, end)
    this.#earliest = Math.min(this.#earliest, end)
    if (this.terms === NO_TERMS) this.terms = new Map()
    this.#map.set(isKnown ? id : copied(id), terms)
    if (!isKnown) this.#count.value += 1
    return true
  }

  clear(): void {
    this.#count.value -= this.terms.size
    this.terms = NO_TERMS
    this.#hand = undefined
    this.dueAt = Infinity
  }

  /** Drops the ended parts of some records. */
  sweep(now: number): void {
    if (this.#hand === undefined) {
      this.#hand = this.terms.entries()
      this.#earliest = Infinity
    }
    for (let looked = 0; looked < BATCH; looked += 1) {
      const { value, done } = this.#hand.next()
      if (done) {
        this.#hand = undefined
        this.dueAt = this.#earliest
        return
      }
      const end = endOf(value[1])
      if (end <= now) this.#drop(value[0])
      else this.#earliest = Math.min(this.#earliest, end)
    }
  }

  /** Drops ended parts of some records, or the block that ends first. False if all of them have more than a block. */
  #displace(now: number): boolean {
    let first: string | undefined
    let earliest = Infinity
    let looked = 0
    for (const [id, terms] of this.terms) {
      if (looked++ === BATCH) break
      const { override, grants } = terms
      const end = endOf(terms)
      const isBlock = override === undefined && grants.length === 0
      if ((!isBlock && end > now) || end >= earliest) continue
      first = id
      earliest = end
    }
    if (first !== undefined) this.#drop(first)
    return first !== undefined
  }

  #drop(id: string): void {
    if (this.#map.delete(id)) this.#count.value -= 1
  }

  get #map(): Map<string, OwnTerms> {
    return this.terms as Map<string, OwnTerms>
  }
}
