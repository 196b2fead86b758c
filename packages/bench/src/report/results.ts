export type Unit = 'ns' | 'µs' | 'ms' | 's' | 'bytes' | 'MB' | 'calls'

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

export interface Results {
  /** ISO 8601. */
  readonly date: string
  readonly seconds: number
  readonly machine: { readonly [fact: string]: string }
  readonly versions: { readonly [software: string]: string }
  readonly measurements: readonly Measurement[]
}
