import type { InspectProgress } from '@sluice/core'
import { printable } from '@sluice/terminal/printable'
import { count, number } from '@sluice/terminal/words'

/** How often a line is written, ms. */
const LINE_EVERY_MS = 2000
/** Keys that can't be read and are named; all of them are counted. */
const NAMED = 5

/** Keys under the prefix that a reading has passed over. */
export interface Unreadable {
  readonly count: number
  /** The first ones. */
  readonly names: readonly string[]
}

/** The progress of one reading of a store, and the keys that it could not read. */
export class Reading {
  looked = 0
  #passedOver = 0
  readonly #names: string[] = []
  readonly #step: (reading: Reading) => void

  /** @param step called after each step */
  constructor(step: (reading: Reading) => void = () => {}) {
    this.#step = step
  }

  /** Counts what `inspect` has read. */
  readonly onProgress = ({ looked, unreadable }: InspectProgress): void => {
    this.looked = looked
    this.#passedOver += unreadable.length
    for (const name of unreadable) if (this.#names.length < NAMED) this.#names.push(name)
    this.#step(this)
  }

  get unreadable(): Unreadable {
    return { count: this.#passedOver, names: this.#names }
  }
}

/** A reading that says on a stream how far it is, from time to time. */
export function reportedReading(stderr: NodeJS.WritableStream): Reading {
  let next = performance.now() + LINE_EVERY_MS
  return new Reading(({ looked }) => {
    if (performance.now() < next) return
    next = performance.now() + LINE_EVERY_MS
    stderr.write(`reading: ${count(looked, 'key')} so far\n`)
  })
}

/** `2 keys can't be read: sluice:{a}:x, …`; undefined if all can. */
export function unreadableText({ count: all, names }: Unreadable): string | undefined {
  if (all === 0) return undefined
  const more = all > names.length ? `, and ${number(all - names.length)} more` : ''
  return `${count(all, 'key')} passed over, not readable: ${names.map(printable).join(', ')}${more}`
}

/** Reports the keys that a reading could not read, if any, on a stream. */
export function sayUnreadable({ unreadable }: Reading, stderr: NodeJS.WritableStream): void {
  const text = unreadableText(unreadable)
  if (text !== undefined) stderr.write(`${text}\n`)
}
