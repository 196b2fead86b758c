import { random } from '@sluice/test-harness/random'

/** Draws what a seed repeats. */
export class Draw {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = random(seed)
  }

  chance(share: number): boolean {
    return this.#next() < share
  }

  /** An integer of a range, its ends included. */
  integer(least: number, most: number): number {
    return Math.floor(least + this.#next() * (Math.floor(most) - least + 1))
  }

  oneOf<const T>(choices: readonly T[]): T {
    return choices[this.integer(0, choices.length - 1)] as T
  }
}
