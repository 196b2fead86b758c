import { expect, it } from '@jest/globals'
import { type JoinOptions, joinTransactions } from './join-transactions.ts'
import type { Transaction, TransactionalBackend } from './transactional-backend.ts'

interface Begun {
  readonly keys: readonly string[]
  readonly withinMs: number | undefined
  /** Decides, writes and answers. */
  commit(): void
  fail(error: Error): void
}

/** A backend of numbers, each in one byte, whose transactions end when the test says so. */
function backend(options?: JoinOptions) {
  const rows = new Map<string, Uint8Array>()
  const begun: Begun[] = []
  const transact: TransactionalBackend['transact'] = (keys, decide, withinMs) =>
    new Promise((resolve, reject) => {
      const commit = () => {
        const { changes, value } = decide(
          keys.map((key) => rows.get(key)),
          1000,
        )
        for (const { key, state } of changes) {
          if (state === undefined) rows.delete(key)
          else rows.set(key, state)
        }
        resolve(value)
      }
      begun.push({ keys, withinMs, commit, fail: reject })
    })
  return { rows, begun, transact: joinTransactions(transact, options) }
}

/** Adds one to each number; the value is what they were. */
function increment(keys: readonly string[]) {
  return (states: readonly (Uint8Array | undefined)[]): Transaction<number[]> => {
    const numbers = states.map((state) => state?.[0] ?? 0)
    const changes = keys.map((key, i) => {
      return { key, state: Uint8Array.of((numbers[i] as number) + 1), ttlMs: 1 }
    })
    return { changes, value: numbers }
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

it('calls of one turn share a transaction, in order, and see what those before them left', async () => {
  const { begun, rows, transact } = backend()
  const answers = [['b', 'c'], ['a', 'b'], ['b']].map((keys) => transact(keys, increment(keys)))
  await turn()
  expect(begun.map(({ keys }) => keys)).toEqual([['a', 'b', 'c']])
  begun[0]?.commit()
  expect(await Promise.all(answers)).toEqual([[0, 0], [0, 1], [2]])
  expect(rows.get('b')).toEqual(Uint8Array.of(3))
})

it('one call that needs the exact time is enough for all that share its transaction', async () => {
  const needed: unknown[] = []
  const transact = joinTransactions(async (keys, decide) => {
    const { value, needsClock } = decide(
      keys.map(() => undefined),
      1000,
    )
    needed.push(needsClock)
    return value
  })
  const ask = (needsClock: boolean) =>
    transact(['a'], () => ({ changes: [], value: undefined, needsClock }))
  await Promise.all([ask(true), ask(false)])
  await Promise.all([ask(false), ask(false)])
  expect(needed).toEqual([true, false])
})

it('a transaction that has failed decides nothing any more', async () => {
  const { begun, rows, transact } = backend()
  const answer = transact(['a'], increment(['a']))
  await turn()
  begun[0]?.fail(new Error('down'))
  await expect(answer).rejects.toThrow('down')
  begun[0]?.commit()
  expect(rows.size).toBe(0)
})

it('what comes while four are in progress waits, and then shares one', async () => {
  const { begun, transact } = backend()
  const answers: Promise<number[]>[] = []
  for (let i = 0; i < 10; i += 1) {
    answers.push(transact([`${i}`], increment([`${i}`])))
    await turn()
  }
  expect(begun).toHaveLength(4)
  begun[0]?.commit()
  await turn()
  expect(begun[4]?.keys).toEqual(['4', '5', '6', '7', '8', '9'])
  for (const each of begun) each.commit()
  expect((await Promise.all(answers)).flat()).toEqual(Array(10).fill(0))
})

it('a key is in one transaction at a time, first come, first served; other keys need not wait', async () => {
  const { begun, transact } = backend()
  const order: string[] = []
  const ask = async (...keys: string[]) => {
    transact(keys, increment(keys)).then(
      () => order.push(keys.join()),
      () => order.push('failed'),
    )
    await turn()
  }
  await ask('a')
  await ask('a', 'b')
  // Otherwise those that need several keys would never have their turn.
  await ask('b')
  await ask('c')
  expect(begun.map(({ keys }) => keys)).toEqual([['a'], ['c']])
  begun[0]?.commit()
  await turn()
  expect(begun[2]?.keys).toEqual(['a', 'b'])
  begun[2]?.commit()
  begun[1]?.fail(new Error('down'))
  await turn()
  await ask('c')
  expect(begun[3]?.keys).toEqual(['c'])
  expect(order).toEqual(['a', 'a,b', 'b', 'failed'])
})

it('a transaction has at most 512 keys, or those of one call', async () => {
  const { begun, transact } = backend()
  const keys = (name: string, count: number) => Array.from({ length: count }, (_, i) => name + i)
  for (const [name, count] of [
    ['a', 300],
    ['b', 300],
    ['c', 600],
  ] as const)
    void transact(keys(name, count), increment([]))
  await turn()
  expect(begun.map((each) => each.keys.length)).toEqual([300, 300, 600])
})

it('a decision that throws, or a transaction that fails, concerns only its own calls', async () => {
  const { begun, rows, transact } = backend()
  const broken = transact(['a'], () => {
    throw new Error('broken')
  })
  const whole = transact(['a'], increment(['a']))
  await turn()
  begun[0]?.commit()
  await expect(broken).rejects.toThrow('broken')
  expect(await whole).toEqual([0])

  const failed = transact(['a'], increment(['a']))
  await turn()
  begun[1]?.fail(new Error('down'))
  await expect(failed).rejects.toThrow('down')
  expect(rows.get('a')).toEqual(Uint8Array.of(1))
})

it('a call that is given up before its decision charges nothing; others go on', async () => {
  const { begun, rows, transact } = backend()
  const late = transact(['a'], increment(['a']), 10)
  const patient = transact(['b'], increment(['b']), 60_000)
  await turn()
  expect(begun.map(({ withinMs }) => withinMs)).toEqual([10, 60_000])
  await expect(late).rejects.toThrow('no answer within 10 ms')
  for (const each of begun) each.commit()
  expect(await patient).toEqual([0])
  expect([...rows.keys()]).toEqual(['b'])
})

it('the calls that wait are bounded, and those that were given up make room', async () => {
  const { begun, transact } = backend()
  for (const key of ['b', 'c', 'd', 'e']) {
    void transact([key], increment([key]))
    await turn()
  }
  const late = Array.from({ length: 2000 }, () => transact(['a'], increment(['a']), 10))
  const refused = transact(['a'], increment(['a']))
  await expect(refused).rejects.toThrow('too many calls')
  const ended = await Promise.allSettled(late)
  expect(ended.every(({ status }) => status === 'rejected')).toBe(true)
  const next = transact(['f'], increment(['f']))
  begun[0]?.commit()
  await turn()
  expect(begun.at(-1)?.keys).toEqual(['f'])
  begun.at(-1)?.commit()
  expect(await next).toEqual([0])
})

it('calls that wait for other times share no transaction: one that is lost holds up only its own', async () => {
  const { begun, transact } = backend()
  for (const [i, withinMs] of [5000, 100, 100, undefined].entries())
    void transact([`${i}`], increment([]), withinMs).catch(() => {})
  await turn()
  expect(begun.map(({ keys, withinMs }) => [keys, withinMs])).toEqual([
    [['0'], 5000],
    [['1', '2'], 100],
    [['3'], undefined],
  ])
  for (const each of begun) each.commit()
})

it('with no room for more keys, a transaction is shared only by calls that need no other keys', async () => {
  const { begun, transact } = backend({ keys: 0, underWay: 2 })
  const call = (keys: string) => transact([...keys], increment([...keys]))
  const calls = ['a', 'b', 'a', 'ab', 'a', 'c'].map(call)
  const settled = Promise.all(calls)
  for (const keys of ['a', 'b', 'c', 'a,b']) {
    await new Promise(setImmediate)
    const next = begun.shift()
    expect(next?.keys.join()).toBe(keys)
    next?.commit()
  }
  expect(await settled).toEqual([[0], [0], [1], [2, 1], [3], [0]])
})
