export type Unit = 'ns' | 'µs' | 'ms' | 'bytes' | 'calls'

/** One contender at one piece of work. Less is better. */
export interface Row {
  readonly contender: string
  /** The samples, one for each round, in their order. */
  readonly samples: readonly number[]
  /** The best round, where it is not the least sample: of differences that of the best of each. */
  readonly best?: number
}

/** All contenders at one piece of work. */
export interface Measurement {
  readonly title: string
  readonly unit: Unit
  /** The contender that the ratios relate to. */
  readonly reference?: string
  readonly rows: readonly Row[]
  /** The measurement's heading in the chart, where it is shown there: the reference beside the peers. */
  readonly chart?: string
}

/** Whether it is neither ours nor a floor or a bare server, which nobody installs. */
export function isPeer({ contender }: Row): boolean {
  return !/^(sluice|floor|bare)\b/.test(contender)
}

export interface Figure {
  readonly median: number
  readonly best: number
}

export type Verdict = 'met' | 'not met' | 'not distinguishable'

/** A figure of ours, or of the floor, against a peer's. */
export interface Bar {
  readonly work: string
  readonly unit: Unit
  readonly contender: string
  readonly figure: Figure
  readonly peer: string
  readonly peerFigure: Figure
  /** The goal that ours must keep; a floor has none, since nobody could go below it. */
  readonly goal?: {
    /** The most that ours may be, as a multiple of the peer's. */
    readonly atMost: number
    readonly verdict: Verdict
  }
  /** The name of the work in the README, where it mentions the figure. */
  readonly claim?: string
}

/** The findings of one part of the bench. */
export interface Findings {
  readonly measurements: readonly Measurement[]
  readonly bars: readonly Bar[]
}

export interface Results extends Findings {
  /** ISO 8601. */
  readonly date: string
  readonly seconds: number
  readonly machine: { readonly [fact: string]: string }
  readonly versions: { readonly [software: string]: string }
}
