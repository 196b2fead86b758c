/** What is measured of one contender in each round. */
export interface Contest<Sample> {
  readonly contender: string
  measure(): Promise<Sample>
}

/**
 * Measures every contender once in each round, in an order that changes with the round, so that
 * none always runs first or behind the same other.
 *
 * @returns for each contender its samples, in the order of the rounds
 */
export async function runRounds<Sample>(
  contests: readonly Contest<Sample>[],
  rounds: number,
  report: (line: string) => void,
): Promise<Map<string, Sample[]>> {
  const samples = new Map<string, Sample[]>(contests.map(({ contender }) => [contender, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const { contender, measure } of shuffled(contests)) {
      report(`round ${round + 1} of ${rounds}: ${contender}`)
      samples.get(contender)?.push(await measure())
    }
  }
  return samples
}

function shuffled<T>(items: readonly T[]): T[] {
  const order = items.map((item) => ({ item, place: Math.random() }))
  return order.toSorted((a, b) => a.place - b.place).map(({ item }) => item)
}
