import { createBudget } from '@sluice/budget'
import type { Redis } from 'ioredis'

/** Dollars for a million tokens. The simulated model is expensive, so that a budget is spent within a minute. */
const prices: Record<string, { input: number; output: number } | undefined> = {
  large: { input: 1_000, output: 10_000 },
  small: { input: 100, output: 1_000 },
}
/** Dollars a month by key id; a real gateway keeps them in a database. */
const ofKeys: Record<string, number> = { ada: 20, grace: 100 }

export type GatewayBudget = ReturnType<typeof openBudget>

/** The budgets of each key, team and organisation for a month. */
export function openBudget(store: Redis | undefined) {
  return createBudget({
    store,
    unit: 'usd',
    window: 'month',
    levels: { key: (id) => ofKeys[id] ?? 0, team: 150, organisation: 200 },
    price({ model, input, output }) {
      const price = prices[model]
      return price && (input * price.input + output * price.output) / 1_000_000
    },
    onAlert({ level, id, share, used, limit }) {
      console.log(`${level} ${id} has spent ${used} of ${limit} dollars, ${share * 100} %`)
    },
  })
}
