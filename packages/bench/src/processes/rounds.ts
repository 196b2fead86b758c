/** A contender that is ready to be measured, as often as it is asked. */
export interface Started<Sample> {
  measure(): Promise<Sample>
  stop(): Promise<void>
}

export interface Contest<Sample> {
  readonly contender: string
  start(): Promise<Started<Sample>>
}

export interface Rounds {
  /** How often all contenders start anew: what one process is lucky with ends with it. */
  readonly starts: number
  /** Rounds after each start. */
  readonly rounds: number
}

/**
 * Measures every contender once in each round, in an order that changes with the round, so that
 * none always runs first or behind the same other. All are started before; they idle until it is
 * their turn.
 *
 * @returns for each contender its samples, in the order of the rounds
 */
export async function runRounds<Sample>(
  contests: readonly Contest<Sample>[],
  { starts, rounds }: Rounds,
  report: (line: string) => void,
): Promise<Map<string, Sample[]>> {
  const samples = new Map<string, Sample[]>(contests.map(({ contender }) => [contender, []]))
  for (let start = 1; start <= starts; start += 1) {
    const started: { contender: string; running: Started<Sample> }[] = []
    try {
      for (const contest of contests) {
        report(`start ${start} of ${starts}: ${contest.contender}`)
        started.push({ contender: contest.contender, running: await contest.start() })
      }
      for (let round = 1; round <= rounds; round += 1) {
        report(`start ${start} of ${starts}, round ${round} of ${rounds}`)
        for (const { contender, running } of shuffled(started)) {
          samples.get(contender)?.push(await running.measure())
        }
      }
    } finally {
      await Promise.all(started.map(({ running }) => running.stop()))
    }
  }
  return samples
}

/** The same contender, started only while it is measured: for those that hold much memory. */
export function startedLate<Sample>({ contender, start }: Contest<Sample>): Contest<Sample> {
  return {
    contender,
    start: async () => ({
      async measure() {
        const running = await start()
        try {
          return await running.measure()
        } finally {
          await running.stop()
        }
      },
      async stop() {},
    }),
  }
}

function shuffled<T>(items: readonly T[]): T[] {
  const order = items.map((item) => ({ item, place: Math.random() }))
  return order.toSorted((a, b) => a.place - b.place).map(({ item }) => item)
}
