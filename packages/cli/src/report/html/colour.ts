import type { Run } from '../report.ts'

const COLOURED = ['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'leaky-bucket']

/** The custom property with a run's colour: its algorithm's, if it has but one. */
export function colourOf({ policies }: Pick<Run, 'policies'>): `--${string}` {
  const algorithms = new Set(policies.map(({ algorithm }) => algorithm))
  const algorithm = policies[0]?.algorithm
  if (algorithms.size !== 1 || algorithm === undefined) return '--admitted'
  return COLOURED.includes(algorithm) ? `--${algorithm}` : '--admitted'
}
