import { describe, expect, test } from '@jest/globals'
import type { Ledger, Store } from '@sluice/core'
import type { StoreKit } from './store-kit.ts'
import { storeSuite } from './store-suite.ts'
import { MapDatabase, type Mistakes } from './testing/map-database.ts'

/** The names of the tests that a store fails, of those with such a name. */
async function failuresOf(kit: StoreKit<Store>, played = /./): Promise<string[]> {
  const tests: [name: string, run: () => Promise<void>][] = []
  const runner = {
    describe: (_: string, define: () => void) => define(),
    test: (name: string, run: () => Promise<void>) => tests.push([name, run]),
  }
  storeSuite(runner, 'the store', kit)
  const failures: string[] = []
  for (const [name, run] of tests)
    if (played.test(name)) await run().catch(() => failures.push(name))
  return failures
}

/** Several stores that share a database, as processes would. */
function kitOf(mistakes: Mistakes, wrap = (store: Store) => store): StoreKit<Store> {
  const database = new MapDatabase(mistakes)
  return {
    mode: 'async',
    inspects: true,
    create: (clock) => wrap(database.connect(clock)),
    failWrites: (_, text) => database.failWrites(text),
    countLeft: ({ clock }, text) => database.countLeft(text, clock?.() as number),
  }
}

/** A store whose ledgers decide otherwise. */
function deciding(decideOf: (ledger: Ledger<'async'>) => Ledger<'async'>['decide']) {
  return (store: Store): Store => ({
    ...store,
    open: (...args) => {
      const ledger = store.open(...args) as Ledger<'async'>
      return Object.assign(Object.create(ledger), { decide: decideOf(ledger) })
    },
  })
}

describe('the suite', () => {
  test('passes a store that forgets a key in the very moment in which it may', async () => {
    expect(await failuresOf(kitOf({}))).toEqual([])
  })

  test.each<[Mistakes, RegExp]>([
    [{ noRollback: true }, /that can't write policy 1 rejects, and changes no policy/],
    [{ noExpiry: true }, /nothing is left of keys whose quota is full/],
    [{ rtrim: true }, /spaces whose names differ/],
    [{ deferred: true }, /several stores that share their states/],
  ])('fails a store with %j', async (mistakes, name) => {
    expect(await failuresOf(kitOf(mistakes), name)).not.toEqual([])
  })

  test('fails a store that changes the charges', async () => {
    const changing = deciding((ledger) => async (requests, isPeek) => {
      const results = await ledger.decide(requests, isPeek)
      for (const charge of requests.flat()) charge.cost = 0
      return results
    })
    for (const name of [/charges stay as they are/, /charges that nobody can change/])
      expect(await failuresOf(kitOf({}, changing), name)).not.toEqual([])
  })

  test('fails a store that looks at charges after its answer', async () => {
    const late = deciding((ledger) => async (requests) => {
      const results = await ledger.decide(requests, true)
      setImmediate(() => ledger.decide(requests).catch(() => {}))
      return results
    })
    expect(await failuresOf(kitOf({}, late), /charges stay as they are/)).not.toEqual([])
  })
})
