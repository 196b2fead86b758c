import { beforeEach, expect, it } from '@jest/globals'
import { GrowingTransactions, MissingKeys, type States } from './growing-transactions.ts'
import type { TransactionalBackend } from './transactional-backend.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** The calls in the order in which they were decided. */
let order: string[]
/** Whether the answer of a transaction is lost. */
let isLost: (keys: readonly string[]) => boolean
let transactions: GrowingTransactions
beforeEach(() => {
  order = []
  isLost = () => false
  const transact: TransactionalBackend['transact'] = async (keys, decide) => {
    await turn()
    const { value } = decide(
      keys.map(() => undefined),
      1000,
    )
    return isLost(keys) ? new Promise<never>(() => {}) : value
  }
  transactions = new GrowingTransactions({ transact })
})

/** A call whose decision finds out that it needs these keys, one after the other. */
function call(names: readonly string[], missing = '', withinMs = 60_000) {
  const decide = (states: States) => {
    const next = [...missing].find((key) => !states.has(key))
    if (next !== undefined) throw new MissingKeys([next])
    order.push(names.join(''))
    return { changes: [], value: names }
  }
  return transactions.transact(names, [], decide, withinMs)
}

it('calls that share any name keep their order, however often one is begun anew', async () => {
  const later: Promise<unknown>[] = []
  const first = call(['a', 'b'], 'uvw').then(() => later.push(call(['f', 'b'])))
  await Promise.all([first, call(['c', 'b'], 'xyz'), call(['d', 'c']), call(['e'])])
  await Promise.all(later)
  expect(order.slice(0, 3)).toEqual(['e', 'ab', 'cb'])
  expect(order.slice(3).sort()).toEqual(['dc', 'fb'])
})

it('one whose answer is lost holds up others for as long as it may take', async () => {
  isLost = (keys) => keys.includes('x')
  void call(['a'], 'x', 20)
  const next = call(['a'])
  expect(await next).toEqual(['a'])
  // It was decided before, and its answer did not come.
  expect(order).toEqual(['a', 'a'])
})

it('one that waited behind others for longer than it may take is not decided', async () => {
  isLost = (keys) => keys.includes('x')
  void call(['a'], 'x', 50)
  await turn()
  const late = call(['a', 'b'], '', 1)
  await expect(late).rejects.toThrow('no answer within 1 ms')
  expect(order).toEqual(['a'])
})
