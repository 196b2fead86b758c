/** A contender that is ready to be measured, as often as it is asked. */
export interface Started<Sample> {
  measure(): Promise<Sample>
  stop(): Promise<void>
}

export interface Contest<Sample> {
  readonly contender: string
  start(): Promise<Started<Sample>>
}

/** A contender that needs no start. */
export function ready<Sample>(contender: string, measure: () => Promise<Sample>): Contest<Sample> {
  return { contender, start: async () => ({ measure, stop: async () => {} }) }
}

export interface Rounds {
  /** How often all contenders start anew: what one process is lucky with ends with it. */
  readonly starts: number
  /** Rounds after each start. */
  readonly rounds: number
}

/**
 * Measures every contender once in each round, in an order that changes with the round, so that
 * none always runs first or behind the same other. All are started before, at once; they idle until
 * it is their turn.
 *
 * @returns the samples of each contender, in the order of the rounds
 */
export async function runRounds<Sample>(
  contests: readonly Contest<Sample>[],
  { starts, rounds }: Rounds,
  report: (line: string) => void = () => {},
): Promise<Map<string, Sample[]>> {
  const samples = new Map<string, Sample[]>(contests.map(({ contender }) => [contender, []]))
  for (let start = 1; start <= starts; start += 1) {
    report(`start ${start} of ${starts}`)
    const starting = contests.map(async ({ contender, start }) => {
      return { contender, running: await start() }
    })
    try {
      const started = await Promise.all(starting)
      for (let round = 1; round <= rounds; round += 1) {
        report(`start ${start} of ${starts}, round ${round} of ${rounds}`)
        for (const { contender, running } of shuffled(started)) {
          samples.get(contender)?.push(await running.measure())
        }
      }
    } finally {
      await Promise.allSettled(starting.map(async (each) => (await each).running.stop()))
    }
  }
  return samples
}

function shuffled<T>(items: readonly T[]): T[] {
  const order = items.map((item) => ({ item, place: Math.random() }))
  return order.toSorted((a, b) => a.place - b.place).map(({ item }) => item)
}
