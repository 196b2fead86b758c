// What the table of docs/budgets.md says of this package.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, jest, test } from '@jest/globals'
import { type BudgetOptions, createBudget } from './index.ts'

const who = { key: 'blue', team: 'core' }
const opened: { close(): void }[] = []
afterEach(() => {
  for (const each of opened.splice(0)) each.close()
})

function budgetOf(options: Partial<BudgetOptions<'key' | 'team'>> = {}) {
  const levels = { key: 1, team: 1 }
  const price = ({ model, output }: { model: string; output: number }) =>
    model === 'known' ? output / 1000 : undefined
  const budget = createBudget({ unit: 'usd', window: 'month', levels, price, ...options })
  opened.push(budget)
  return budget
}

const ask = { model: 'known', output: 600 }

/** Finds each answer of the column, by its row. */
const ANSWERS: Record<string, () => Promise<string>> = {
  'refuses a call whose estimate does not fit, before it is sent': async () => {
    const budget = budgetOf()
    await budget.reserve(who, ask)
    return (await budget.reserve(who, ask)).allowed ? 'no' : 'yes'
  },
  'one decision for all levels: all are charged, or none': async () => {
    const budget = budgetOf({ levels: { key: 10, team: 1 } })
    await budget.reserve(who, ask)
    await budget.reserve(who, ask)
    const used = (await budget.usage(who)).levels.map((each) => each.used)
    return used.every((each) => each === 0.6) ? 'yes' : 'no'
  },
  "enforces a user's budget besides the team's": async () => {
    const levels = { user: 1, team: 100 }
    const budget = createBudget({ unit: 'tokens', window: 'month', levels })
    opened.push(budget)
    const ada = { user: 'ada', team: 'core' }
    await budget.reserve(ada, { model: 'any', output: 1 })
    return (await budget.reserve(ada, { model: 'any', output: 1 })).level === 'user' ? 'yes' : 'no'
  },
  'a model without a price': async () => {
    const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const { allowed } = await budgetOf().reserve(who, { model: 'new', output: 1 })
    emitted.mockRestore()
    return allowed ? 'goes on' : 'refused'
  },
  'while the store is away': async () => {
    const never = { decide: () => new Promise(() => {}), change: () => new Promise(() => {}) }
    const store = { mode: 'async', open: () => never, close() {} } as never
    const { allowed } = await budgetOf({ store, deadline: '20ms' }).reserve(who, ask)
    return allowed ? 'goes on' : 'refuses'
  },
  'a budget for a run': async () => {
    const budget = budgetOf({ levels: { key: 100, team: 100 } })
    const refusedBy = async (limits: object) => {
      const run = () => budget.run({ id: JSON.stringify(limits), maxToolCalls: 1, ...limits })
      const tools = run().tools(who, [{ invoke: async () => {} }])
      await run().reserve(who, ask)
      for (const _ of [1, 2]) await tools[0]?.invoke().catch(() => {})
      return (await run().reserve(who, ask)).level
    }
    const limits = [{ max: 1, maxToolCalls: 9 }, { maxCalls: 1, maxToolCalls: 9 }, {}]
    const levels = await Promise.all(limits.map(refusedBy))
    return levels.join() === 'run,calls,toolCalls'
      ? 'money, calls and tool calls, in all processes'
      : `${levels}`
  },
}

const page = readFileSync(join(__dirname, '../../../docs/budgets.md'), 'utf8')
const table = page.slice(page.indexOf('## Compared with other budgets'))
const rows = [...table.matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm)]
  .map(([, row, answer]) => [row, answer] as [string, string])
  .filter(([row]) => row !== '' && !row.startsWith('---') && row !== 'needs')

test('every row but that of what it needs has its test', () => {
  expect(rows.map(([row]) => row)).toEqual(Object.keys(ANSWERS))
})

test.each(rows)('%s: %s', async (row, answer) => {
  expect(await ANSWERS[row]?.()).toBe(answer)
})
