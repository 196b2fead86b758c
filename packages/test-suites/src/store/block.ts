import { expect } from 'expect'
import { algorithmNames, LIMIT, limitOf, type StoreTests } from './store-kit.ts'

export function blocks({ describe, test }: StoreTests): void {
  for (const name of algorithmNames)
    describe(name, () => {
      const limit = limitOf(name)

      for (const [given, used] of [
        ['never seen', 0],
        ['partly used', 2],
        ['used up', LIMIT],
      ] as const)
        test(`a key ${given} is blocked for exactly so long, then whole`, async ({
          open,
          clock,
        }) => {
          const { consume, block, remaining } = open([limit])
          if (used > 0) await consume('client', used)
          await block('client', 300)
          clock.advance(1)
          const { admitted, outcomes } = await consume('client')
          const { remaining: left, retryAfterMs, resetMs } = outcomes[0]!
          expect([admitted, left, retryAfterMs, resetMs]).toEqual([false, 0, 299, 299])
          clock.advance(298)
          expect((await consume('client', 0)).admitted).toBe(false)
          clock.advance(1)
          expect(await remaining('client')).toEqual([LIMIT])
          expect((await consume('client', LIMIT)).admitted).toBe(true)
          expect((await consume('client')).admitted).toBe(false)
        })

      test('reset makes the quota full and ends a block', async ({ open }) => {
        const { consume, block, reset, remaining } = open([limit])
        await consume('used', LIMIT)
        await consume('bystander', 2)
        await block('blocked', 1_000_000)
        for (const key of ['used', 'blocked', 'never seen']) {
          await reset(key)
          expect(await remaining(key)).toEqual([LIMIT])
        }
        expect(await remaining('bystander')).toEqual([LIMIT - 2])
      })
    })

  test('the later block counts, also when it is the shorter one', async ({ open, clock }) => {
    const { consume, block } = open([limitOf('sliding-window')])
    await block('client', 1_000_000)
    await block('client', 10)
    clock.advance(10)
    expect((await consume('client')).admitted).toBe(true)
  })
}
