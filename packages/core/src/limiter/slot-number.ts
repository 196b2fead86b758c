import { randomInt } from 'node:crypto'

/** Where this process begins: 48 random bits. */
let last = randomInt(2 ** 48 - 1) * 2 ** 5

/** The number of a slot, 1 … 2^53 − 1: none that another process has in use, as good as certainly. */
export function nextSlot(): number {
  last = last === Number.MAX_SAFE_INTEGER ? 1 : last + 1
  return last
}
