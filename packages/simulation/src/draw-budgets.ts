import type { Draw } from './draw.ts'
import type { Fault, Plan, PlannedRequest } from './plan.ts'

/** Answers do not come, and nothing that was counted is lost. */
const LATE = ['lose replies', 'lose requests', 'stall'] as const

/** The application calls language models, within a budget. */
export function withBudget(draw: Draw, plan: Plan): Plan {
  // Beside the turn of a calendar, its window could end.
  if (!draw.chance(0.2) || plan.epoch !== undefined) return plan
  const { application, duration } = plan
  const budget = {
    levels: { client: draw.oneOf([10, 40, 200]), team: draw.oneOf([15, 60, 300]) },
    lost: draw.oneOf(['returned', 'charged', 'charged']),
    soft: draw.chance(0.15),
    hold: draw.oneOf([3000, 10_000]),
  } as const
  const faults = [...plan.faults, ...(draw.chance(0.6) ? anyLate(draw, plan) : [])]
  const calls = Array.from({ length: draw.integer(4, 30) }, (): PlannedRequest => {
    const cost = draw.integer(1, 12)
    return {
      at: draw.integer(0, draw.chance(0.7) ? Math.min(duration, 10_000) : duration),
      process: draw.integer(0, application.processes - 1),
      client: draw.oneOf(['ada', 'bob', 'cyd']),
      cost,
      actual: draw.oneOf([0, cost, draw.integer(0, cost), draw.integer(0, cost), 2 * cost]),
      workMs: draw.oneOf([0, 5, 200, 3000, draw.integer(0, 30_000)]),
      model: draw.oneOf(['settle', 'settle', 'settle twice', 'release', 'cancel', 'bill']),
    }
  })
  const requests = [...plan.requests, ...calls].sort((one, other) => one.at - other.at)
  faults.sort((one, other) => one.at - other.at)
  return { ...plan, application: { ...application, budget }, requests, faults }
}

/** Something that makes answers late while most of the calls end. */
function anyLate(draw: Draw, { application: { processes }, duration }: Plan): Fault[] {
  return Array.from({ length: draw.integer(1, 3) }, () => {
    const at = draw.integer(0, Math.min(duration, 10_000))
    const process = draw.integer(0, processes - 1)
    const ms = draw.oneOf([10, 150, 1000, 7000])
    return draw.oneOf<() => Fault>([
      () => ({ at, kind: draw.oneOf(LATE), process, ms }),
      () => ({ at, kind: draw.oneOf(['reset connection', 'send twice']), process }),
      () => ({ at, kind: 'freeze', ms }),
    ])()
  })
}
