import type { Redis } from 'ioredis'
import { callsOf } from './calls-of.ts'
import type { Case } from './cases.ts'

/** The work of Redis for one case. */
export interface Longest {
  readonly calls: number
  /** The time of the longest call, µs, each call at its best of all runs. */
  readonly micros: number
}

/**
 * How long Redis is busy with the longest call of a case, by its own SLOWLOG. That counts the time
 * for which Redis waits for a processor too. So each call is taken at the best of several runs, in
 * which the same calls come in the same order.
 */
export async function longestCall(client: Redis, each: Case, runs: number): Promise<Longest> {
  // The first run loads the scripts.
  await callsOf(client, each)
  let { micros: best } = await callsOf(client, each)
  for (let run = 1; run < runs; run += 1) {
    const { micros } = await callsOf(client, each)
    best = best.map((time, i) => Math.min(time, micros[i] ?? time))
  }
  return { calls: best.length, micros: Math.max(...best) }
}
