import type { AlgorithmOption } from '../algorithms/algorithm.ts'
import { ALGORITHM_NAMES, type AlgorithmName, algorithms } from '../algorithms/index.ts'

/** The options of a policy that only some algorithms have. */
export const ALGORITHM_OPTIONS = [
  ...new Set(ALGORITHM_NAMES.flatMap((name) => Object.keys(algorithms[name].options))),
] as readonly AlgorithmOption[]

/** The algorithms that have an option; none for an option that does not depend on the algorithm. */
export function algorithmsWith(option: string): readonly AlgorithmName[] {
  return ALGORITHM_NAMES.filter((name) => Object.hasOwn(algorithms[name].options, option))
}
