import type { ChargeIncrease } from '@sluice/core'
import type { Outcome } from '@sluice/core/store'
import { expect } from 'expect'
import { algorithmNames, LIMIT, limitOf, type StoreTests, WINDOW } from './store-kit.ts'

export function settles({ describe, test }: StoreTests): void {
  for (const name of algorithmNames)
    describe(name, () => {
      const limit = limitOf(name)

      test('gives back, down to a full quota', async ({ open }) => {
        const { consume, settle, remaining } = open([limit])
        const { at } = await consume('client', LIMIT)
        await settle('client', -2, at, 0)
        expect(await remaining('client')).toEqual([2])
        await settle('client', -100, at, 2)
        expect(await remaining('client')).toEqual([LIMIT])
      })

      test('charges more, into debt that must be worked off', async ({ open, clock }) => {
        const { consume, settle, peek } = open([limit])
        const { at } = await consume('client', LIMIT)
        const before = (await peek('client', 1)).outcomes[0]!.retryAfterMs
        await settle('client', 2, at)
        const { remaining, retryAfterMs } = (await peek('client', 1)).outcomes[0]!
        expect(remaining).toBe(0)
        expect(retryAfterMs).toBeGreaterThanOrEqual(before)
        clock.advance(3 * WINDOW)
        expect((await consume('client', LIMIT)).admitted).toBe(true)
      })

      test('of a key never seen charges the whole correction', async ({ open }) => {
        const { settle, remaining } = open([limit])
        await settle('given back', -3)
        await settle('charged', 3)
        expect(await remaining('given back')).toEqual([LIMIT])
        expect(await remaining('charged')).toEqual([LIMIT - 3])
      })

      test('tells what remained before and after, of what it charges more', async ({ open }) => {
        const { ledger, charges, consume, block } = open([limit, limitOf('fixed-window')])
        const { at } = await consume('client', 1)
        const increases: object[] = []
        const [first, second] = charges('client', 2)
        const onIncrease = ({ place, before, remaining }: ChargeIncrease) =>
          void increases.push({ place, before, remaining })
        await ledger.settle([first!, { ...second!, cost: 100 }], at, 'store', onIncrease)
        await ledger.settle(
          [
            { ...first!, cost: -1 },
            { ...second!, cost: 0 },
          ],
          at,
          'store',
          onIncrease,
        )
        await block('client', 1000)
        await ledger.settle([first!, second!], at, 'store', onIncrease)
        expect(increases).toEqual([
          { place: 0, before: LIMIT - 1, remaining: LIMIT - 3 },
          { place: 1, before: LIMIT - 1, remaining: 0 },
        ])
      })

      test('leaves a blocked key blocked', async ({ open, clock }) => {
        const { block, settle, consume } = open([limit])
        await block('client', 1_000)
        await settle('client', -LIMIT)
        clock.advance(999)
        expect((await consume('client')).admitted).toBe(false)
      })
    })

  for (const name of ['fixed-window', 'sliding-window', 'sliding-log'] as const)
    test(`${name}: what was charged in a window that is gone changes nothing`, async ({
      open,
      clock,
    }) => {
      const { consume, settle, remaining } = open([limitOf(name)])
      const { at } = await consume('client', 2)
      clock.advance(2 * WINDOW)
      await consume('client', 2)
      await settle('client', -2, at)
      await settle('client', 2, at)
      expect(await remaining('client')).toEqual([LIMIT - 2])
    })

  test('leaky-bucket: what is given back leaves those behind it their turns', async ({
    open,
    clock,
  }) => {
    const { consume, settle, remaining } = open([limitOf('leaky-bucket')])
    const turns: (Outcome & { at: number })[] = []
    for (let i = 0; i < 3; i += 1) {
      const { at, outcomes } = await consume('client')
      turns.push({ ...outcomes[0]!, at })
    }
    const giveBack = async (turn: number) => {
      const { at, remaining } = turns[turn]!
      await settle('client', -1, at, remaining)
    }
    clock.advance(WINDOW / LIMIT / 2)
    await giveBack(1)
    expect(await remaining('client')).toEqual([LIMIT - 3])
    await giveBack(2)
    await giveBack(2)
    expect(await remaining('client')).toEqual([LIMIT - 2])
    const { delayMs } = (await consume('client')).outcomes[0]!
    expect(delayMs).toBe((WINDOW / LIMIT) * 1.5)
  })

  test('corrects every policy, each by its own units', async ({ open }) => {
    const { ledger, charges, consume, remaining } = open([
      limitOf('fixed-window'),
      limitOf('token-bucket'),
    ])
    const { at } = await consume('client', 4)
    const [first, second] = charges('client', -1)
    await ledger.settle([first!, { ...second!, cost: -3 }], at)
    expect(await remaining('client')).toEqual([LIMIT - 3, LIMIT - 1])
  })
}
