import type { Plan, PlannedApplication, PlannedRequest } from './plan.ts'

/** The most plans that are tried. */
const MAX_TRIALS = 400

/** Parts of an application that can be left out together, and what only the requests have that need the first. */
const PARTS: readonly (readonly [
  parts: readonly [keyof PlannedApplication, ...(keyof PlannedApplication)[]],
  ofRequest?: keyof PlannedRequest,
])[] = [
  [['streams'], 'stream'],
  [['queue', 'queueBan'], 'wait'],
  [['queueBan']],
  [['calls'], 'calls'],
  [['leases'], 'leased'],
  [['budget'], 'model'],
  [['ban', 'routeBan']],
  [['routeBan']],
  [['lists']],
  [['goesOn']],
  [['waits']],
]

/**
 * Finds a smaller plan that fails the same check.
 * @param fails whether a plan does
 */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let trials = 0
  let smallest = plan
  const tries = async (candidate: Plan) => {
    if (trials >= MAX_TRIALS) return false
    trials += 1
    if (!(await fails(candidate))) return false
    smallest = candidate
    return true
  }
  let size: number
  do {
    size = sizeOf(smallest)
    await without('faults')
    await without('requests')
    for (const simpler of simplerApplications(smallest)) await tries(simpler)
  } while (sizeOf(smallest) < size && trials < MAX_TRIALS)
  return smallest

  /** Leaves out as many as possible: first halves, then quarters, and so on down to single ones. */
  async function without(what: 'faults' | 'requests'): Promise<void> {
    for (let length = Math.ceil(smallest[what].length / 2); length >= 1; length >>= 1) {
      for (let from = 0; from < smallest[what].length; ) {
        const all: readonly unknown[] = smallest[what]
        const kept = [...all.slice(0, from), ...all.slice(from + length)]
        if (!(await tries({ ...smallest, [what]: kept }))) from += length
      }
    }
  }
}

function sizeOf({ faults, requests, application }: Plan): number {
  return faults.length + requests.length + application.processes + application.policies.length
}

/** Plans with an application that does less, all else as it is. */
function* simplerApplications({ application, requests, faults, ...plan }: Plan): Generator<Plan> {
  const { policies, processes } = application
  const simpler = (changed: Partial<PlannedApplication>, others: Partial<Plan> = {}): Plan => {
    return { ...plan, application: { ...application, ...changed }, requests, faults, ...others }
  }
  const common = policies.filter(({ isOfRoute }) => !isOfRoute)
  for (const i of policies.keys()) {
    if (common.length === 1 || policies[i]?.isOfRoute) continue
    const others = faults.filter((each) => !('policy' in each) || each.policy !== i)
    const numbered = others.map((each) =>
      'policy' in each && each.policy > i ? { ...each, policy: each.policy - 1 } : each,
    )
    yield simpler({ policies: policies.toSpliced(i, 1) }, { faults: numbered })
  }
  if (common.length < policies.length) {
    const others = requests.map(({ route: _, ...each }) => each)
    yield simpler({ policies: common }, { requests: others })
  }
  if (processes > 1) {
    const moved = <T extends { readonly process: number }>(each: T): T => {
      return { ...each, process: Math.min(each.process, processes - 2) }
    }
    yield simpler(
      { processes: processes - 1 },
      {
        requests: requests.map(moved),
        faults: faults.map((each) => ('process' in each ? moved(each) : each)),
      },
    )
  }
  for (const [parts, ofRequest] of PARTS) {
    if (application[parts[0]] === undefined) continue
    const without = Object.fromEntries(parts.map((each) => [each, undefined]))
    const isLeft = (each: PlannedRequest) =>
      ofRequest === undefined || each[ofRequest] === undefined
    yield simpler(without, { requests: requests.filter(isLeft) })
  }
  if (application.cluster !== undefined) {
    const others = faults.filter(({ kind }) => kind !== 'move keys')
    yield simpler({ cluster: undefined }, { faults: others })
  }
  if (application.joins) yield simpler({ joins: false })
}
