import type { Cores } from './core.ts'
import { planOf } from './draw-plan.ts'
import type { Plan } from './plan.ts'
import type { LuaMachine } from './redis/lua.ts'
import { shorten } from './shorten.ts'
import { shrink } from './shrink.ts'
import { type Outcome, simulate } from './simulation.ts'
import type { Failure } from './stage.ts'

/** A story with more lines is made shorter. */
const LONG = 60

/** The smallest plan that fails as a seed does. */
export interface Explained {
  readonly smallest: Plan
  /** What happens in it; if that is long, equal events are counted. */
  readonly story: readonly string[]
}

export interface Searched {
  /** The first seed that failed; undefined: none did. */
  readonly found: { readonly seed: number; readonly failure: Failure } | undefined
  readonly seeds: number
  readonly simulatedMs: number
  readonly events: number
}

/** The outcome of a run that a search needs. */
type Played = Pick<Outcome, 'failure' | 'simulatedMs' | 'events'>

/** Plays seeds one after the other, up to the first that fails. */
export async function search(
  play: (seed: number) => Promise<Played>,
  first: number,
  count: number,
): Promise<Searched> {
  let simulatedMs = 0
  let events = 0
  let seeds = 0
  for (let seed = first; seed < first + count; seed += 1) {
    const outcome = await play(seed)
    seeds += 1
    simulatedMs += outcome.simulatedMs
    events += outcome.events
    const { failure } = outcome
    if (failure !== undefined) return { found: { seed, failure }, seeds, simulatedMs, events }
  }
  return { found: undefined, seeds, simulatedMs, events }
}

/** Makes the plan of a seed that failed smaller, and tells what happens in it. */
export async function explain(
  { seed, failure }: Required<Searched>['found'] & object,
  cores: Cores,
  lua?: LuaMachine,
): Promise<Explained> {
  const smallest = await shrink(planOf(seed), async (plan) => {
    const outcome = await simulate(plan, cores, { lua })
    return outcome.failure?.check === failure.check
  })
  const { story } = await simulate(smallest, cores, { tells: true, lua })
  return { smallest, story: story.length > LONG ? shorten(story) : story }
}
