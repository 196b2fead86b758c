/** How often chance alone may call a difference real. */
const RISK = 0.1

/**
 * The differences of two contenders, round for round: what slows the machine for a
 * while slows both, and leaves with the subtraction.
 */
export function differences(a: readonly number[], b: readonly number[]): number[] {
  return a.map((sample, round) => sample - (b[round] as number))
}

/**
 * Whether the differences have a direction: the sign test, which asks only how many are above zero
 * and how many below, so that one slow round counts as one. What was measured once does not vary.
 */
export function isDistinguishable(differences: readonly number[]): boolean {
  if (differences.length === 1) return true
  const above = differences.filter((each) => each > 0).length
  const below = differences.filter((each) => each < 0).length
  if (above + below === 0) return true
  return chanceOfAtMost(Math.min(above, below), above + below) * 2 <= RISK
}

/** The chance that a coin thrown so many times shows heads at most so often. */
function chanceOfAtMost(heads: number, throws: number): number {
  let ways = 1
  let sum = 1
  for (let i = 1; i <= heads; i += 1) {
    ways = (ways * (throws - i + 1)) / i
    sum += ways
  }
  return sum / 2 ** throws
}
