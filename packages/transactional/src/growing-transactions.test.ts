import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { GrowingTransactions, MissingKeys, type States } from './growing-transactions.ts'
import { joinTransactions } from './join-transactions.ts'
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

it('calls that share a transaction which is repeated keep their order', async () => {
  // Each transaction is decided twice, as if another process had written meanwhile.
  const transact: TransactionalBackend['transact'] = async (keys, decide) => {
    const states = keys.map(() => undefined)
    decide(states, 1000)
    return decide(states, 1000).value
  }
  transactions = new GrowingTransactions({ transact: joinTransactions(transact) })
  const decided: string[] = []
  const add = (name: string, missing: string) => {
    const decide = (states: States) => {
      if (missing !== '' && !states.has(missing)) throw new MissingKeys([missing])
      decided.push(name)
      return { changes: [], value: name }
    }
    return transactions.transact(['a'], [], decide, 60_000)
  }
  await Promise.all([add('first', 'x'), add('second', '')])
  expect([...new Set(decided)]).toEqual(['first', 'second'])
})

describe('one whose answer is lost', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    isLost = (keys) => keys.includes('x')
  })
  afterEach(() => {
    jest.useRealTimers()
  })
  const turns = async () => {
    for (let i = 0; i < 10; i += 1) await turn()
  }

  it('holds up others for as long as it may take', async () => {
    void call(['a'], 'x', 100)
    const next = call(['a'])
    await turns()
    // It was decided, and nobody knows.
    expect(order).toEqual(['a'])
    jest.advanceTimersByTime(110)
    expect(await next).toEqual(['a'])
    expect(order).toEqual(['a', 'a'])
  })

  it('makes one that may wait no longer fail undecided', async () => {
    void call(['a'], 'x', 100)
    await turns()
    const late = call(['a', 'b'], '', 90)
    await turns()
    jest.advanceTimersByTime(110)
    await expect(late).rejects.toThrow('no answer within 90 ms')
    expect(order).toEqual(['a'])
  })
})
