import type { Charge } from '@sluice/core'
import { type CompiledLimit, Policy } from '@sluice/core/store'
import { expect } from 'expect'
import { algorithmNames, LIMIT, limitOf, type StoreTests, WINDOW } from './store-kit.ts'

const DAY = 86_400_000

export function consumes({ describe, test }: StoreTests): void {
  for (const name of algorithmNames)
    describe(name, () => {
      const limit = limitOf(name)

      test('admits the limit and no more, and shows what remains', async ({ open }) => {
        const { consume } = open([limit])
        for (let left = LIMIT - 1; left >= 0; left--) {
          const { admitted, outcomes } = await consume('client')
          expect([admitted, outcomes[0]!.admitted, outcomes[0]!.remaining]).toEqual([
            true,
            true,
            left,
          ])
        }
        const { admitted, outcomes } = await consume('client')
        expect([admitted, outcomes[0]!.admitted, outcomes[0]!.remaining]).toEqual([false, false, 0])
      })

      test('requests of one call that share one of their keys see each other', async ({ open }) => {
        const { ledger, charges } = open([limit, limit])
        // Where keys are decided separately, a call has keys of one shard.
        const requests = Array.from({ length: LIMIT + 1 }, (_, i) => {
          const [own, shared] = charges(`{shard}${i}`, 1) as [Charge, Charge]
          return [own, { ...shared, key: '{shard}all' }]
        })
        await ledger.consume(requests[0]!)
        const admitted = (await ledger.decide(requests)).map(
          (each) => 'at' in each && each.admitted,
        )
        expect(admitted).toEqual([...Array(LIMIT - 1).fill(true), false, false])
      })

      test('a refusal costs nothing, however large', async ({ open }) => {
        const { consume, remaining } = open([limit])
        await consume('client', 2)
        for (const cost of [LIMIT - 1, LIMIT + 1, Number.MAX_SAFE_INTEGER]) {
          expect((await consume('client', cost)).admitted).toBe(false)
        }
        expect(await remaining('client')).toEqual([LIMIT - 2])
        expect((await consume('client', LIMIT - 2)).admitted).toBe(true)
      })

      test('what a refusal says to wait is enough, and one millisecond less is not', async ({
        open,
        clock,
      }) => {
        const { consume, peek } = open([limit])
        await consume('client', LIMIT)
        clock.advance(1)
        const { retryAfterMs } = (await consume('client', 2)).outcomes[0]!
        clock.advance(retryAfterMs - 1)
        expect((await peek('client', 2)).admitted).toBe(false)
        clock.advance(1)
        expect((await consume('client', 2)).admitted).toBe(true)
      })

      test('a cost above the limit has an infinite wait', async ({ open }) => {
        const { consume } = open([limit])
        expect((await consume('client', LIMIT + 1)).outcomes[0]!.retryAfterMs).toBe(Infinity)
      })

      test('peek says what consume would, and changes nothing', async ({ open, clock }) => {
        const { consume, peek } = open([limit])
        for (const cost of [0, 1, 3, 2, 1, 0, 1]) {
          const peeked = await peek('client', cost)
          expect(await peek('client', cost)).toEqual(peeked)
          expect(await consume('client', cost)).toEqual(peeked)
          clock.advance(WINDOW / 100)
        }
      })

      test('a quota is full again when it says so', async ({ open, clock }) => {
        const { consume, remaining } = open([limit])
        const { resetMs } = (await consume('client', LIMIT)).outcomes[0]!
        expect(resetMs).toBeGreaterThan(0)
        clock.advance(resetMs)
        expect(await remaining('client')).toEqual([LIMIT])
      })

      test('a clock that steps back locks no key out for longer than a window', async ({
        open,
        clock,
      }) => {
        const { consume } = open([limit])
        await consume('client', LIMIT)
        clock.advance(-100 * WINDOW)
        await consume('client')
        clock.advance(2 * WINDOW)
        expect((await consume('client')).admitted).toBe(true)
      })

      test('a refusal by one policy charges no other policy', async ({ open, clock }) => {
        const { consume, remaining } = open([limitOf('fixed-window'), limit])
        const alone = open([limitOf('fixed-window')])
        await consume('client', 3)
        await alone.consume('client', LIMIT - 3)
        clock.advance(-100 * WINDOW)
        const { outcomes } = await consume('client')
        expect(outcomes.map(({ admitted }) => admitted)).toEqual([false, true])
        clock.advance(2 * WINDOW)
        expect(await remaining('client')).toEqual([LIMIT, LIMIT])
      })
    })

  test('a window whose anchor moves ends when it said, and the next one begins there', async ({
    open,
    clock,
  }) => {
    const policy = new Policy('', { limit: LIMIT, window: 'month', anchor: (() => 1) as never })
    const [tenth, twentieth] = [10, 20].map((anchor) => policy.limitFor(LIMIT, anchor))
    const { ledger } = open([tenth!])
    const ask = async (limit: CompiledLimit) => {
      const { outcomes } = await ledger.consume([{ key: 'client', limit, cost: LIMIT }])
      return [outcomes[0]!.admitted, outcomes[0]!.resetMs]
    }
    clock.set(Date.UTC(2027, 1, 1))
    const end = Date.UTC(2027, 1, 10)
    expect(await ask(tenth!)).toEqual([true, end - clock()])
    clock.set(end - 1)
    expect(await ask(twentieth!)).toEqual([false, 1])
    // The store has to remember a window that has ended, since the next one begins at its end.
    clock.set(end + DAY)
    const next = Date.UTC(2027, 2, 20)
    expect(await ask(twentieth!)).toEqual([true, next - clock()])
    clock.set(next - 1)
    expect(await ask(tenth!)).toEqual([false, 1])
  })

  test('a cost of 0 is admitted while a unit remains, and charges nothing', async ({ open }) => {
    const { consume, remaining } = open([limitOf('fixed-window')])
    expect((await consume('client', 0)).admitted).toBe(true)
    expect(await remaining('client')).toEqual([LIMIT])
    await consume('client', LIMIT)
    expect((await consume('client', 0)).admitted).toBe(false)
  })
}
