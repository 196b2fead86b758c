/** How much is measured. */
export interface Plan {
  readonly rounds: number
  /** Rounds of HTTP with Express: its own cost is large beside what is added to it. */
  readonly expressRounds: number
  readonly fewKeys: number
  readonly manyKeys: number
  /** Of each contender in memory, in each round. */
  readonly warmUpMs: number
  readonly measuredMs: number
  /** Decisions of each contender on Redis, in each round; as many before them. */
  readonly decisions: number
  /** Load on each server, in each round. */
  readonly httpWarmUpSeconds: number
  readonly httpSeconds: number
}

export const fullPlan: Plan = {
  rounds: 5,
  expressRounds: 7,
  fewKeys: 10_000,
  manyKeys: 1_000_000,
  warmUpMs: 300,
  measuredMs: 500,
  decisions: 50_000,
  httpWarmUpSeconds: 1,
  httpSeconds: 2,
}

/** Proves that the bench works; its figures prove nothing. */
export const quickPlan: Plan = {
  rounds: 2,
  expressRounds: 2,
  fewKeys: 10_000,
  manyKeys: 100_000,
  warmUpMs: 50,
  measuredMs: 50,
  decisions: 6000,
  httpWarmUpSeconds: 1,
  httpSeconds: 1,
}
