import type { Draw } from './draw.ts'
import { isCall, type Plan, type PlannedPolicy, windowOf } from './plan.ts'

/** The requests of an application without a queue of its own wait for their turns, in place of a refusal. */
export function withWaits(draw: Draw, plan: Plan): Plan {
  const { application, requests, faults } = plan
  if (application.policies.some((each) => 'maxDelay' in each) || !draw.chance(0.25)) return plan
  const hasSlots = draw.chance(0.4)
  const [first, ...others] = application.policies as [PlannedPolicy]
  const awaited = hasSlots ? slotsOf(draw, first) : first
  // Clients that wait for the same take turns.
  const isShared = others.every(({ isOfRoute }) => isOfRoute) && draw.chance(0.5)
  const policies = [isShared ? { ...awaited, level: 'organisation' as const } : awaited, ...others]
  const longest = Math.max(...policies.map(windowOf))
  const maxMs = draw.oneOf([50, 300, longest / 2, longest, 3 * longest])
  const priority = draw.oneOf(['constant', 'by request'] as const)
  const waits = {
    maxMs: Math.min(600_000, Math.round(maxMs)),
    most: draw.oneOf([2, 5, 12]),
    priority,
  }
  return {
    ...plan,
    application: { ...application, policies, waits },
    requests: requests.map((each) =>
      isCall(each) || priority === 'constant' || draw.chance(0.5)
        ? each
        : { ...each, priority: draw.oneOf([1, 1, -1]) },
    ),
    // Slots have no top-ups.
    faults: faults.filter((each) => !hasSlots || each.kind !== 'grant' || each.policy !== 0),
  }
}

/** Slots in place of what a policy counts. */
function slotsOf(draw: Draw, { name, level, alertAt }: PlannedPolicy): PlannedPolicy {
  return {
    name,
    concurrent: draw.oneOf([1, 2, 3]),
    hold: draw.oneOf([5000, 30_000]),
    ...(level && { level }),
    ...(alertAt && { alertAt }),
  }
}
