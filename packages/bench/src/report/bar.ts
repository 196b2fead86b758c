import { differences, isDistinguishable, median } from '../statistics/quartiles.ts'
import type { Bar, Row, Verdict } from './results.ts'

interface Asked extends Pick<Bar, 'work' | 'bar' | 'unit'> {
  /** One sample for each round. */
  readonly ours: readonly number[]
  /** The most that is allowed: a number, or one for each round. */
  readonly allowed: number | readonly number[]
}

/** Holds a figure against its bar, round for round. */
export function judge({ work, bar, unit, ours, allowed }: Asked): Bar {
  const most = typeof allowed === 'number' ? ours.map(() => allowed) : allowed
  const verdict = verdictOf(differences(most, ours))
  return { work, bar, unit, ours: median(ours), allowed: median(most), verdict }
}

function verdictOf(margins: readonly number[]): Verdict {
  if (!isDistinguishable(margins)) return 'not distinguishable'
  return median(margins) >= 0 ? 'pass' : 'fail'
}

export function samplesOf(rows: readonly Row[], contender: string): readonly number[] {
  const row = rows.find((each) => each.contender === contender)
  if (row === undefined) throw new Error(`no contender ${contender}`)
  return row.samples
}

/** The contender with the least median. */
export function least(rows: readonly Row[]): Row {
  return rows.reduce((best, row) => (median(row.samples) < median(best.samples) ? row : best))
}

export function times(factor: number, samples: readonly number[]): number[] {
  return samples.map((sample) => sample * factor)
}
