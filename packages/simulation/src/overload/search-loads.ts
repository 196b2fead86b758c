import type { Cores } from '../core.ts'
import type { Searched } from '../search.ts'
import { loadOf } from './load-plan.ts'
import { playLoad } from './play.ts'

/**
 * Plays runs with too much load, one after the other, up to the first that fails.
 * @param mostMs the time of the processor after which it ends, ms
 */
export async function searchLoads(
  cores: Cores,
  first: number,
  count: number,
  mostMs = Infinity,
): Promise<Searched> {
  let simulatedMs = 0
  let events = 0
  let seeds = 0
  const started = process.cpuUsage()
  const isInTime = () => process.cpuUsage(started).user / 1000 < mostMs
  for (let seed = first; seed < first + count && isInTime(); seed += 1) {
    const plan = loadOf(seed)
    const outcome = await playLoad(plan, cores)
    seeds += 1
    simulatedMs += plan.duration
    events += outcome.events
    const { failure } = outcome
    if (failure !== undefined) return { found: { seed, failure }, seeds, simulatedMs, events }
  }
  return { found: undefined, seeds, simulatedMs, events }
}
