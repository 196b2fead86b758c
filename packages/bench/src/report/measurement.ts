import { differences } from '../statistics/differences.ts'
import { median } from '../statistics/quartiles.ts'
import { isPeer, type Measurement, type Row } from './results.ts'

/** One figure of the samples of all contenders. */
export function measurementOf<Sample>(
  samples: ReadonlyMap<string, readonly Sample[]>,
  about: Omit<Measurement, 'rows'>,
  of: (sample: Sample) => number,
): Measurement {
  const rows = [...samples].map(([contender, each]) => ({ contender, samples: each.map(of) }))
  return { ...about, rows }
}

/** The time that each contender needs beyond `base` in the same round. */
export function addedTo(base: Row, rows: readonly Row[]): Row[] {
  return rows
    .filter(({ contender }) => contender !== base.contender)
    .map((row) => ({
      contender: row.contender,
      samples: differences(row.samples, base.samples),
      best: bestOf(row) - bestOf(base),
    }))
}

export function bestOf({ samples, best }: Row): number {
  return best ?? Math.min(...samples)
}

/** @throws Error if the contender was not measured */
export function rowOf({ title, rows }: Measurement, contender: string): Row {
  const row = rows.find((each) => each.contender === contender)
  if (row === undefined) throw new Error(`no contender ${contender}: ${title}`)
  return row
}

/** The peer with the least median. */
export function bestPeer({ rows }: Measurement): Row {
  return rows
    .filter(isPeer)
    .reduce((best, row) => (median(row.samples) < median(best.samples) ? row : best))
}
