import { idOf } from './documents.ts'
import type { Draw } from './draw.ts'
import {
  type DocumentFault,
  type Fault,
  MOST_BURST,
  MOST_DELAY_MS,
  type Plan,
  type PlannedPolicy,
  type PlannedSettings,
} from './plan.ts'

/** The bounds that no document may leave: the limits of all versions are within them. */
const BOUNDS = [true, true, { limit: { min: 1, max: 20 } }, { limit: { max: 25 } }] as const

/** Documents change the policies of an application. */
export function withLive(draw: Draw, plan: Plan): Plan {
  const { application, faults, duration } = plan
  const varies = application.policies.some((each) => 'windows' in each || 'anchors' in each)
  if (varies || application.waits !== undefined || !draw.chance(0.15)) return plan
  const policies = application.policies.map((each) =>
    draw.chance(0.8) ? { ...each, live: draw.oneOf(BOUNDS) } : each,
  )
  const live = [...policies.keys()].filter((i) => policies[i]?.live !== undefined)
  if (live.length === 0) return plan
  const count = draw.oneOf([1, 2, 4, 8])
  const from = draw.integer(0, duration)
  const changes = Array.from({ length: count }, () => {
    const at = draw.chance(0.5) ? draw.integer(0, duration) : from + draw.oneOf([0, 0, 3, 2500])
    return anyChange(draw, application.processes, policies, live, Math.min(duration, at))
  })
  const all: Fault[] = [...faults.map((each) => withoutLive(draw, each)), ...changes]
  if (draw.chance(0.2)) {
    const process = draw.integer(0, application.processes - 1)
    const by = draw.oneOf([-3_600_000, 3_600_000])
    all.push({ at: draw.integer(0, from), kind: 'process clock', process, by })
  }
  return {
    ...plan,
    application: { ...application, policies },
    faults: all.sort((one, other) => one.at - other.at),
  }
}

/** Some processes are replaced by versions that no document changes. */
function withoutLive(draw: Draw, fault: Fault): Fault {
  if ((fault.kind !== 'kill' && fault.kind !== 'leave') || draw.chance(0.7)) return fault
  const { at, kind, process } = fault
  return { at, kind, process, isFixed: true }
}

function anyChange(
  draw: Draw,
  processes: number,
  policies: readonly PlannedPolicy[],
  live: readonly number[],
  at: number,
): DocumentFault {
  const process = draw.integer(0, processes - 1)
  const policy = draw.oneOf(live)
  const settings = (i: number) => anySettings(draw, policies[i] as PlannedPolicy)
  const sees = draw.chance(0.3) && { sees: true as const }
  const ends = draw.chance(0.4) && { ms: draw.oneOf([500, 3000, 10_000]) }
  const common = { at, process, ...sees }
  return draw.oneOf<() => DocumentFault>([
    () => ({ ...common, kind: 'set policy', policy, set: settings(policy), ...ends }),
    () => ({ ...common, kind: 'set policy', policy, set: settings(policy), ...ends }),
    () => ({ ...common, kind: 'set policy', policy, set: settings(policy), ...ends }),
    () => ({ ...common, kind: 'unset policy', policy }),
    () => ({ ...common, kind: 'apply policies', all: [{ policy, set: settings(policy) }] }),
    () => ({ ...common, kind: 'roll back policies' }),
    () => ({ at, process, kind: 'write policies', json: anyText(draw, policies, live) }),
  ])()
}

/** What a policy can take over, within its bounds. */
function anySettings(draw: Draw, policy: PlannedPolicy): PlannedSettings {
  // The last one is above some bounds: it is refused.
  const units = draw.oneOf([1, 2, 5, 10, 20, 30])
  const quota = 'hold' in policy ? { concurrent: units } : { limit: units }
  const whom = draw.oneOf<PlannedSettings>([
    { dryRun: true },
    { dryRun: false },
    { enforce: draw.oneOf([0, 0.3, 0.5, 0.7, 1]) },
  ])
  const { algorithm = '' } = policy as { algorithm?: string }
  return draw.oneOf<PlannedSettings>([
    quota,
    quota,
    quota,
    whom,
    { ...quota, ...whom },
    { alertAt: draw.oneOf([[0.5, 1], [1], [0.8]]) },
    ...(algorithm === 'token-bucket' ? [{ burst: draw.integer(1, MOST_BURST) }] : []),
    ...(algorithm === 'leaky-bucket' ? [{ maxDelay: draw.oneOf([0, 100, MOST_DELAY_MS]) }] : []),
  ])
}

/** A document that somebody has written past all checks: most are wrong. */
function anyText(draw: Draw, policies: readonly PlannedPolicy[], live: readonly number[]): string {
  const written = (layers: object) => JSON.stringify({ form: 1, policies: layers, history: [] })
  const nameOf = (i: number) => idOf(policies[i] as PlannedPolicy)
  const policy = draw.oneOf(live)
  const id = nameOf(policy)
  const holdsSlots = 'hold' in (policies[policy] as PlannedPolicy)
  const quota = holdsSlots ? 'concurrent' : 'limit'
  const other = holdsSlots ? 'limit' : 'concurrent'
  const others = Object.fromEntries(
    live.map((i) => [nameOf(i), [{ set: anySettings(draw, policies[i] as PlannedPolicy) }]]),
  )
  const wrong = (set: object) => written({ ...others, [id]: [{ set }] })
  return draw.oneOf([
    '{',
    '',
    '[]',
    JSON.stringify({ form: 2, policies: others, history: [] }),
    JSON.stringify({ form: 1, policies: others }),
    wrong({ [quota]: 1e300 }),
    wrong({ [quota]: -1 }),
    // Only above some bounds.
    wrong({ [quota]: 30 }),
    wrong({ [quota]: 30 }),
    // Only other algorithms have them.
    wrong({ [other]: 3 }),
    wrong({ burst: 3 }),
    wrong({ maxDelay: 100 }),
    wrong({ enforce: 7 }),
    wrong({ alertAt: [2] }),
    wrong({ window: '1s' }),
    wrong({ dryRun: 'yes' }),
    wrong({ dryRun: true, enforce: 0.5 }),
    written({ ...others, [id]: { set: { limit: 3 } } }),
    written({ nobody: [{ set: { limit: 1e300 } }] }),
    written(others),
  ])
}
