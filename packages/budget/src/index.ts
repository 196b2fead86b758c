export {
  type Budget,
  createBudget,
  type GrantOptions,
  type OverrideOptions,
  type RunOptions,
  type Who,
} from './budget.ts'
export { type BudgetCall, type BudgetDecision, BudgetError, type LevelDecision } from './call.ts'
export { estimateTokens } from './estimate-tokens.ts'
export type { Media, MediaTokens } from './media.ts'
export type {
  BudgetAlert,
  BudgetOptions,
  LevelLimit,
  Price,
  PricedUsage,
  Usage,
} from './options.ts'
