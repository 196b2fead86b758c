import type { Draw } from './draw.ts'
import type { Plan, PlannedApplication, PlannedRequest } from './plan.ts'

type Leases = NonNullable<PlannedApplication['leases']>

/** The application has a limiter that leases, and calls it many times in a row. */
export function withLeases(draw: Draw, plan: Plan): Plan {
  if (!draw.chance(0.2)) return plan
  const { application, duration } = plan
  const leaseMs = draw.oneOf([50, 250, 250, 1000])
  const policies = Array.from({ length: draw.oneOf([1, 1, 2]) }, (_, i) =>
    anyPolicy(draw, `leased ${i}`, leaseMs),
  )
  // Where keys are decided one by one, they are decided at several times.
  const apart = application.cluster?.sharded === false
  const leases = {
    policies: apart ? policies.slice(0, 1) : policies,
    leaseMs,
    ...(draw.chance(0.2) && { withoutToo: true as const }),
  }
  const bursts = Array.from({ length: draw.integer(4, 16) }, () =>
    anyBurst(draw, application.processes, leases, duration),
  )
  const requests = [...plan.requests, ...bursts].sort((one, other) => one.at - other.at)
  return { ...plan, application: { ...application, leases }, requests }
}

function anyPolicy(draw: Draw, name: string, leaseMs: number): Leases['policies'][number] {
  const algorithm = draw.oneOf([
    'fixed-window',
    'sliding-window',
    'sliding-log',
    'token-bucket',
  ] as const)
  const window = draw.oneOf([1000, 1337, 10_000, 60_000])
  const limit = draw.oneOf([8, 20, 60, 200])
  const burst = algorithm === 'token-bucket' && draw.chance(0.5) && { burst: draw.integer(5, 80) }
  return { name, algorithm, limit, window: Math.max(window, leaseMs), ...burst }
}

function anyBurst(
  draw: Draw,
  processes: number,
  { leaseMs }: Leases,
  duration: number,
): PlannedRequest {
  const cost = draw.oneOf([1, 1, 1, 0, 2, 3])
  return {
    at: draw.integer(0, duration),
    process: draw.integer(0, processes - 1),
    client: draw.oneOf(['ada', 'ada', 'bob', 'cyd']),
    cost,
    actual: draw.oneOf([cost, cost, cost, 0]),
    workMs: draw.oneOf([0, 5, leaseMs, 3 * leaseMs]),
    leased: {
      times: draw.integer(3, 40),
      everyMs: draw.oneOf([0, 1, 1, 7, 30, Math.round(leaseMs / 3)]),
    },
  }
}
