/** How much is measured. */
export interface Plan {
  /** How often the contenders start anew, each in a process of its own. */
  readonly starts: number
  /** Rounds after each start: in each, every contender is measured once. */
  readonly rounds: number
  /** Rounds after each start, where a round takes a second for each contender. */
  readonly longRounds: number
  readonly fewKeys: number
  readonly manyKeys: number
  /** CPU time before the rounds, in memory and over HTTP, ms. */
  readonly warmUpMs: number
  /** CPU time in each round, in memory. */
  readonly measuredMs: number
  /** CPU time in each round over HTTP, ms: so long that it contains its share of garbage collection. */
  readonly requestsMs: number
  /** Decisions on Redis in each round: one at a time, and 50 in a turn. */
  readonly single: number
  readonly crowded: number
}

export const fullPlan: Plan = {
  starts: 3,
  rounds: 6,
  longRounds: 3,
  fewKeys: 10_000,
  manyKeys: 1_000_000,
  warmUpMs: 700,
  measuredMs: 100,
  requestsMs: 400,
  single: 1000,
  crowded: 6000,
}

/** Proves that the bench works; its figures prove little. */
export const quickPlan: Plan = {
  starts: 1,
  rounds: 5,
  longRounds: 1,
  fewKeys: 10_000,
  manyKeys: 100_000,
  warmUpMs: 150,
  measuredMs: 50,
  requestsMs: 100,
  single: 300,
  crowded: 2000,
}
