import type { Demand, Timeline } from '../../report.ts'

/** The data of the page's charts. */
export interface PageData {
  readonly timeline: Omit<Timeline, 'requests'>
  /** The runs that have a chart. */
  readonly runs: readonly {
    /** The custom property of its colour. */
    readonly colour: `--${string}`
    readonly admitted: readonly number[]
    readonly refused: readonly number[]
  }[]
  /** The demands that have a chart. */
  readonly demand: readonly Pick<Demand, 'bins' | 'limits'>[]
}

/** The id of the element that holds them, as JSON. */
export const DATA_ID = 'sluice-data'
