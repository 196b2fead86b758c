import type { OwnTerms } from '../../algorithms/algorithm.ts'
import { bounded, copied } from '../../key/digest.ts'
import { endOf, unended } from '../rules/own-terms.ts'

/** How many clients of all tables have something of their own. */
export interface OwnCount {
  value: number
  readonly most: number
}

/**
 * What clients have of their own in one keyspace. The application made each of them, so none is ever dropped for
 * another one: a store that has as many as it may refuses a further one.
 */
export class OwnTable {
  readonly terms = new Map<string, OwnTerms>()
  private readonly count: OwnCount
  /** When the first of them ends, or earlier, ms. */
  private dueAt = Infinity

  constructor(count: OwnCount) {
    this.count = count
  }

  get(key: string): OwnTerms | undefined {
    return this.terms.get(bounded(key))
  }

  /** @returns false if there is no room for a further client */
  set(key: string, terms: OwnTerms | undefined, now: number): boolean {
    const id = bounded(key)
    const isKnown = this.terms.has(id)
    if (terms === undefined) {
      if (this.terms.delete(id)) this.count.value -= 1
      return true
    }
    if (!isKnown && this.count.value >= this.count.most) this.dropEnded(now)
    if (!isKnown && this.count.value >= this.count.most) return false
    this.dueAt = Math.min(this.dueAt, endOf(terms))
    this.terms.set(isKnown ? id : copied(id), terms)
    if (!isKnown) this.count.value += 1
    return true
  }

  clear(): void {
    this.count.value -= this.terms.size
    this.terms.clear()
  }

  private dropEnded(now: number): void {
    if (now < this.dueAt) return
    this.dueAt = Infinity
    for (const [id, terms] of this.terms) {
      if (unended(terms, now) === undefined) {
        this.terms.delete(id)
        this.count.value -= 1
      } else this.dueAt = Math.min(this.dueAt, endOf(terms))
    }
  }
}
