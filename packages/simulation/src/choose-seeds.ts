import { planOf } from './draw-plan.ts'
import type { Plan } from './plan.ts'

/**
 * Chooses seeds whose plans have, together, everything that any of the plans has: each option, fault and kind of
 * request, and each fault together with each algorithm. The rest are the first of the others.
 *
 * @param among chosen are some of the seeds from 1 to this
 * @param count how many; more if that does not suffice
 */
export function chooseSeeds(among: number, count: number): number[] {
  const seen = new Set<string>()
  const chosen: number[] = []
  const others: number[] = []
  for (let seed = 1; seed <= among; seed += 1) {
    const unseen = [...kindsOf(planOf(seed))].filter((each) => !seen.has(each))
    for (const each of unseen) seen.add(each)
    if (unseen.length > 0) chosen.push(seed)
    else others.push(seed)
  }
  return [...chosen, ...others.slice(0, Math.max(0, count - chosen.length))]
}

/** What can be told apart in a plan. */
function kindsOf({ application, requests, faults }: Plan): ReadonlySet<string> {
  const kinds = new Set([...partsOf(application), ...partsOf(requests), ...partsOf(faults)])
  for (const policy of application.policies)
    for (const { kind } of faults)
      kinds.add(`${'algorithm' in policy ? policy.algorithm : 'concurrent'}, ${kind}`)
  return kinds
}

/** Each property, and the value of each that is a text. */
function partsOf(value: object): string[] {
  if (Array.isArray(value)) return value.flatMap(partsOf)
  return Object.entries(value).flatMap(([name, part]) => {
    if (typeof part === 'string') return `${name}: ${part}`
    return typeof part === 'object' && part !== null ? [name, ...partsOf(part)] : name
  })
}
