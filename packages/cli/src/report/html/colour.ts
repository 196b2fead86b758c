import { algorithms } from '@sluice/core/algorithms'
import type { Run } from '../report.ts'

/** The custom property with a run's colour: its algorithm's, if it has but one. */
export function colourOf({ policies }: Pick<Run, 'policies'>): `--${string}` {
  const names = new Set(policies.map(({ algorithm }) => algorithm))
  const [name] = names
  return names.size === 1 && Object.hasOwn(algorithms, name as string) ? `--${name}` : '--admitted'
}
