import { expect, test } from '@jest/globals'
import { LoadingLedger } from './loading-ledger.ts'
import type { Ledger } from './store.ts'

/** A ledger that notes its calls. */
function noting(calls: string[]): Ledger<'async'> {
  return {
    async decide(_, isPeek) {
      calls.push(isPeek ? 'peek' : 'decide')
      return []
    },
    async change({ kind }) {
      calls.push(kind)
      return undefined
    },
  }
}

const reset = { kind: 'reset', key: 'a' } as const

test('begins to load when it is made, not with the first call', () => {
  let loads = 0
  new LoadingLedger(async () => {
    loads += 1
    return noting([])
  })
  expect(loads).toBe(1)
})

test('makes the calls in their order, also those that come in the turn in which it is there', async () => {
  const calls: string[] = []
  let ready: (ledger: Ledger<'async'>) => void = () => {}
  const loading = new Promise<Ledger<'async'>>((resolve) => {
    ready = resolve
  })
  const ledger = new LoadingLedger(() => loading)
  const first = [ledger.decide([]), ledger.change(reset)]
  ready(noting(calls))
  // Each is made in a later microtask than the one before it.
  const later: Promise<unknown>[] = []
  for (let ticks = 0; ticks < 6; ticks += 1) {
    await undefined
    later.push(ledger.decide([], true))
  }
  await Promise.all([...first, ...later])
  expect(calls).toEqual(['decide', 'reset', ...Array(6).fill('peek')])
})

test('calls fail that it can not be loaded for, and the next one tries again', async () => {
  const calls: string[] = []
  const loads = [Promise.reject(new Error('no such file')), Promise.resolve(noting(calls))]
  const ledger = new LoadingLedger(() => loads.shift() as Promise<Ledger<'async'>>)
  await expect(ledger.decide([])).rejects.toThrow('no such file')
  await ledger.change(reset)
  expect(calls).toEqual(['reset'])
})
