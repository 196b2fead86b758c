export type Unit = 'ns' | 'µs' | 'ms' | 'bytes' | 'calls' | 'per second'

/** One contender at one piece of work. */
export interface Row {
  readonly contender: string
  /** One for each round, in the order of the rounds. */
  readonly samples: readonly number[]
}

/** All contenders at one piece of work. */
export interface Measurement {
  readonly title: string
  readonly unit: Unit
  /** The contender that the ratios relate to. */
  readonly reference?: string
  readonly rows: readonly Row[]
  /** Its heading in the chart, where it is shown there: the reference beside the peers. */
  readonly chart?: string
}

/** Whether it is neither ours nor a floor or a bare server, which nobody installs. */
export function isPeer({ contender }: Row): boolean {
  return !/^(sluice|floor|bare)\b/.test(contender)
}

export type Verdict = 'pass' | 'fail' | 'not distinguishable'

/** A figure of ours against what it must be. */
export interface Bar {
  readonly work: string
  /** What is asked, in words. */
  readonly bar: string
  readonly unit: Unit
  /** Medians of ours and of the most that the bar allows. */
  readonly ours: number
  readonly allowed: number
  readonly verdict: Verdict
}

/** What one part of the bench has found. */
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
