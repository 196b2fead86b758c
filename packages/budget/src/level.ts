/** The first days of the weeks in which runs are counted: of any three days, one of the two has all. */
const WEEKS = { '': '2024-01-01', '-2': '2024-01-04' }

/** What calls are counted in: a level of the options, or a limit of a run, in one of its weeks. */
export interface Level {
  /** Both weeks of a run's limit have the same. */
  readonly name: string
  /** Its name in decisions: for what a run limits `'run'`, `'calls'` or `'toolCalls'`. */
  readonly shown: string
  /** The id of the run. Left out: the level has one for each caller. */
  readonly id?: string
  /** The limit of a client, integers. */
  readonly unitsOf: (id: string) => number | Promise<number>
  /** The options of its policy. */
  readonly policy: { readonly name: string; readonly [option: string]: unknown }
}

/**
 * What a run limits, once for each of its weeks.
 * @param shown `'run'`, `'calls'` or `'toolCalls'`
 * @param depth how many runs it is in
 * @param counted the options that say what its policy counts
 */
export function levelsOfRun(
  shown: string,
  depth: number,
  id: string,
  units: number,
  counted: object,
): Level[] {
  const name = depth === 0 ? shown : `${shown}.${depth}`
  return Object.entries(WEEKS).map(([week, anchor]) => {
    const policy = { name: name + week, limit: varying, window: 'week', anchor, ...counted }
    return { name, shown, id, unitsOf: () => units, policy }
  })
}

/** Stands for a limit that each charge has of its own. */
export function varying(): number {
  return 0
}
