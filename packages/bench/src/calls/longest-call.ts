import type { Redis } from 'ioredis'
import type { Case } from './cases.ts'

/** What Redis did for one case. */
export interface Longest {
  readonly calls: number
  /** The time of the longest call, µs, each call at its best of all runs. */
  readonly micros: number
}

/**
 * How long Redis is busy with the longest call of a case, by its own SLOWLOG. That counts the time
 * for which Redis waits for a processor too. So each call is taken at the best of several runs, in
 * which the same calls come in the same order.
 *
 * @param enough no further run if the longest took no longer than this, µs
 */
export async function longestCall(
  client: Redis,
  each: Case,
  runs: number,
  enough = 0,
): Promise<Longest> {
  // The first run loads the scripts.
  await timesOf(client, each)
  let best = await timesOf(client, each)
  for (let run = 1; run < runs && Math.max(...best) > enough; run += 1) {
    const times = await timesOf(client, each)
    best = best.map((micros, i) => Math.min(micros, times[i] ?? micros))
  }
  return { calls: best.length, micros: Math.max(...best) }
}

type Entry = readonly [id: number, at: number, micros: number, command: readonly string[]]

/** The time of each call, in their order, µs. */
async function timesOf(client: Redis, each: Case): Promise<number[]> {
  await client.flushall()
  const { run, limiter } = await each.prepare(client)
  await client.config('SET', 'slowlog-log-slower-than', '0', 'slowlog-max-len', '100000')
  await client.slowlog('RESET')
  await run()
  const entries = (await client.slowlog('GET', '100000')) as Entry[]
  limiter.close()
  const calls = entries.filter(([, , , [name = '']]) => /^(evalsha|eval|scan)$/i.test(name))
  return calls.toReversed().map(([, , micros]) => micros)
}
