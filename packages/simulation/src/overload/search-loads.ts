import type { Cores } from '../core.ts'
import { type Searched, searchSeeds } from '../search.ts'
import { loadOf } from './load-plan.ts'
import { playLoad } from './play.ts'

/** Plays runs with too much load, one after the other, up to the first that fails. */
export function searchLoads(cores: Cores, first: number, count: number): Promise<Searched> {
  const play = async (seed: number) => {
    const plan = loadOf(seed)
    return { ...(await playLoad(plan, cores)), simulatedMs: plan.duration }
  }
  return searchSeeds(play, first, count)
}
