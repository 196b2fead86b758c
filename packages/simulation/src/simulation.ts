import {
  checkAllOrNothing,
  checkBudgets,
  checkDecided,
  checkHerd,
  checkLeases,
  checkRecovery,
  checkSettled,
  checkSlots,
  checkUnused,
  checkWaits,
  restDocuments,
} from './checks/at-the-end.ts'
import type { Cores } from './core.ts'
import { type Application, cause } from './faults.ts'
import type { Plan, PlannedVersion } from './plan.ts'
import { Process } from './process.ts'
import type { Failure } from './stage.ts'
import { type Playing, World } from './world.ts'

/** Many times what any plan needs: beyond it, something never ends. */
const MAX_EVENTS = 1_000_000

export interface Outcome {
  readonly failure: Failure | undefined
  /** How long it was, ms of the simulation. */
  readonly simulatedMs: number
  readonly events: number
  /** What happened, line by line; empty unless it was asked for. */
  readonly story: readonly string[]
}

/** Plays a plan until it is over, or something happens that must not. */
export async function simulate(plan: Plan, cores: Cores, playing: Playing = {}): Promise<Outcome> {
  const world = new World(plan, cores, playing)
  const { timeline, story } = world
  const application = start(world)
  for (const request of plan.requests)
    timeline.at(request.at, 1, () => application.places[request.process]?.arrive(request))
  for (const fault of plan.faults) timeline.at(fault.at, 1, () => cause(fault, world, application))
  await world.play(async () => {
    timeline.limit(MAX_EVENTS, () => world.fail('endless', `${MAX_EVENTS} events`))
    await timeline.run(plan.duration)
    for (const check of [
      checkRecovery,
      restDocuments,
      checkDecided,
      checkAllOrNothing,
      checkWaits,
      checkSlots,
      checkSettled,
      checkLeases,
      checkBudgets,
      checkUnused,
      checkHerd,
    ])
      if (world.failure === undefined) await check(world, application)
  })
  return { failure: world.failure, simulatedMs: timeline.now, events: timeline.events, story }
}

function start(world: World): Application {
  const { processes } = world.plan.application
  let started = 0
  const create = (place: number, version: PlannedVersion = {}) => {
    const name = `process ${place}${started < processes ? '' : ` (${started})`}`
    started += 1
    return new Process(world, name, version)
  }
  const places = Array.from({ length: processes }, (_, place) => create(place))
  return {
    places,
    replace: (place, version) => {
      places[place] = create(place, version)
    },
  }
}
