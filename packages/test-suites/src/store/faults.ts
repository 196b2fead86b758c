import type { Store } from '@sluice/core'
import { concurrency } from '@sluice/core/algorithms'
import { expect } from 'expect'
import {
  algorithmNames,
  LIMIT,
  limitOf,
  type Rig,
  type StoreKit,
  type StoreTests,
  WINDOW,
} from './store-kit.ts'

type Hook<S extends Store, Name extends 'failWrites' | 'countLeft'> = NonNullable<StoreKit<S>[Name]>

const operations: readonly [name: string, act: (rig: Rig) => Promise<unknown>][] = [
  ['a decision', ({ consume }) => consume('client')],
  ['a correction', ({ settle }) => settle('client', -1)],
  ['a block', ({ block }) => block('client', 1000)],
  ['a reset', ({ reset }) => reset('client')],
]

/** A call whose second write fails, or whose first. */
export function fails<S extends Store>(
  { test }: StoreTests,
  failWrites: Hook<S, 'failWrites'>,
): void {
  const limits = [limitOf('fixed-window'), limitOf('token-bucket')]
  for (const [name, act] of operations)
    for (const place of [0, 1])
      test(`${name} that can't write policy ${place} rejects, and changes no policy`, async ({
        store,
        open,
      }) => {
        const rig = open(limits, { space: 'fails' })
        await rig.consume('client', 3)
        const undo = await failWrites(store as S, `fails${place}`)
        try {
          await expect(act(rig)).rejects.toBeDefined()
        } finally {
          await undo()
        }
        expect(await rig.remaining('client')).toEqual([LIMIT - 3, LIMIT - 3])
        expect((await rig.consume('client', 2)).admitted).toBe(true)
      })
}

/** Keys whose quota is full again. */
export function expires<S extends Store>(
  { test }: StoreTests,
  countLeft: Hook<S, 'countLeft'>,
): void {
  /** Later than any of them is still needed, and than stores that delete in the background are late, ms. */
  const LATER = 24 * 3_600_000

  for (const name of algorithmNames)
    test(`${name}: nothing is left of keys whose quota is full`, async ({
      store,
      clock,
      prefix,
      open,
    }) => {
      const { consume, block } = open([limitOf(name)])
      for (const key of ['used', 'used up', 'refused']) await consume(key, LIMIT)
      await consume('refused')
      await block('blocked', WINDOW)
      expect(await countLeft(store as S, prefix)).toBe(4)
      clock.advance(LATER)
      expect(await countLeft(store as S, prefix)).toBe(0)
    })

  test('slots that nobody renews leave nothing', async ({ store, clock, prefix, open }) => {
    const slots = concurrency.compile({ limit: LIMIT, windowMs: WINDOW })
    const { ledger } = open([slots])
    const charges = [{ key: 'client', limit: slots, cost: 1, claim: [7] }]
    await ledger.consume(charges)
    await ledger.renew([charges])
    expect(await countLeft(store as S, prefix)).toBe(1)
    clock.advance(LATER)
    expect(await countLeft(store as S, prefix)).toBe(0)
  })
}
