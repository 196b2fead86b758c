import type { Charge, StoreResult } from '@sluice/core'
import { concurrency } from '@sluice/core/algorithms'
import type { LedgerVerbs } from '@sluice/core/testing'
import { expect } from 'expect'
import { type Bench, copy, LIMIT, limitOf, type StoreTests, WINDOW } from './store-kit.ts'

/** How long a slot is held, ms. */
const HOLD = WINDOW
const SLOTS = concurrency.compile({ limit: LIMIT, windowMs: HOLD })
const LARGEST = Number.MAX_SAFE_INTEGER

/** A ledger of slots, each given by its number. */
interface Places {
  readonly ledger: LedgerVerbs
  take(slot: number, key?: string): Promise<StoreResult>
  /** Whether each was taken. */
  takeAll(...slots: readonly number[]): Promise<boolean[]>
  giveBack(slot: number, key?: string): Promise<void>
  renew(...charges: readonly Charge[]): Promise<void>
  free(key?: string): Promise<number>
}

const charge = (slot: number, key = 'client', cost = 1): Charge => {
  return { key, limit: SLOTS, cost, claim: [slot] }
}

function placesOf({ open }: Bench): Places {
  const { ledger, remaining } = open([SLOTS])
  const take = async (slot: number, key?: string) => copy(await ledger.consume([charge(slot, key)]))
  return {
    ledger,
    take,
    takeAll: async (...slots) => {
      const taken: boolean[] = []
      for (const slot of slots) taken.push((await take(slot)).admitted)
      return taken
    },
    giveBack: async (slot, key) => {
      await ledger.settle([charge(slot, key, -1)])
    },
    renew: async (...charges) => {
      const requests = charges.map((each) => [each])
      // Where keys are decided separately, a call has one key.
      const calls = ledger.shard === undefined ? [requests] : requests.map((each) => [each])
      for (const call of calls) await ledger.renew(call)
    },
    free: async (key = 'client') => (await remaining(key))[0] as number,
  }
}

/** Policies with `concurrent`. */
export function slots({ describe, test: testStore }: StoreTests): void {
  const test = (name: string, run: (places: Places, bench: Bench) => Promise<void>) =>
    testStore(name, (bench) => run(placesOf(bench), bench))

  test('so many are admitted, and one again for each that is given back', async ({
    take,
    takeAll,
    giveBack,
    free,
  }) => {
    expect(await takeAll(1, 2, 3, 4, 5, 6)).toEqual([true, true, true, true, true, false])
    const { outcomes } = await take(6)
    expect([outcomes[0]!.remaining, outcomes[0]!.resetMs]).toEqual([0, HOLD])
    await giveBack(3)
    expect(await takeAll(6, 7)).toEqual([true, false])
    for (const slot of [1, 2, 4, 5, 6]) await giveBack(slot)
    expect(await free()).toBe(LIMIT)
  })

  test('what is given back twice, or was never taken, frees nobody else', async ({
    takeAll,
    giveBack,
    free,
  }) => {
    await takeAll(1, 2, 3, 4, 5)
    await giveBack(1)
    await giveBack(1)
    await giveBack(99)
    expect(await free()).toBe(1)
  })

  test('a slot that nobody renews is free after hold, to the millisecond', async ({
    takeAll,
    free,
  }, { clock }) => {
    await takeAll(1, 2, 3)
    clock.advance(1)
    await takeAll(4, 5)
    clock.advance(HOLD - 2)
    expect(await free()).toBe(0)
    clock.advance(1)
    expect(await free()).toBe(3)
    clock.advance(1)
    expect(await free()).toBe(LIMIT)
  })

  test('slots of several keys are renewed together, and held as if taken now', async ({
    take,
    takeAll,
    renew,
    free,
  }, { clock }) => {
    await takeAll(1, 2, 3)
    await take(4, 'other')
    clock.advance(HOLD - 1)
    await renew(charge(2), charge(4, 'other'), charge(3))
    clock.advance(1)
    expect([await free(), await free('other')]).toEqual([LIMIT - 2, LIMIT - 1])
    clock.advance(HOLD - 2)
    expect([await free(), await free('other')]).toEqual([LIMIT - 2, LIMIT - 1])
    clock.advance(1)
    expect([await free(), await free('other')]).toEqual([LIMIT, LIMIT])
  })

  test('what the store has lost counts again once it is renewed, above the number if necessary', async ({
    ledger,
    takeAll,
    renew,
    giveBack,
    free,
  }) => {
    await takeAll(1, 2, 3, 4)
    await ledger.reset('client')
    expect(await takeAll(5, 6, 7)).toEqual([true, true, true])
    await renew(charge(1), charge(2), charge(3), charge(4))
    expect(await takeAll(8)).toEqual([false])
    for (const slot of [1, 2, 3]) await giveBack(slot)
    expect(await free()).toBe(1)
  })

  test('the slots of different numbers are different, up to the largest', async ({
    takeAll,
    giveBack,
    free,
  }) => {
    await takeAll(LARGEST, LARGEST - 1, 1, 256)
    await giveBack(LARGEST - 2)
    expect(await free()).toBe(1)
    for (const slot of [1, LARGEST - 1, 256, LARGEST]) await giveBack(slot)
    expect(await free()).toBe(LIMIT)
  })

  test('a slot that is taken twice counts once', async ({ takeAll, free }) => {
    expect(await takeAll(1, 1)).toEqual([true, true])
    expect(await free()).toBe(LIMIT - 1)
  })

  test('a correction without a slot changes none', async ({ ledger, takeAll, free }) => {
    await takeAll(1, 2)
    for (const cost of [-1, 1]) await ledger.settle([{ key: 'client', limit: SLOTS, cost }])
    expect(await free()).toBe(LIMIT - 2)
  })

  test('simultaneous requests are admitted up to the number', async ({ ledger, free }) => {
    const all = Array.from({ length: 100 }, async (_, i) => {
      const result = ledger.consume([charge(i + 1)])
      return (result instanceof Promise ? await result : result).admitted
    })
    expect((await Promise.all(all)).filter(Boolean)).toHaveLength(LIMIT)
    expect(await free()).toBe(0)
  })

  test('with another policy beside it, both are charged or none', async (_, { open }) => {
    const window = limitOf('fixed-window')
    const { ledger, remaining } = open([SLOTS, window])
    const consume = async (slot: number, cost: number) => {
      const charges = [charge(slot), { key: 'client', limit: window, cost }]
      return (await ledger.consume(charges)).admitted
    }
    expect(await consume(1, LIMIT - 1)).toBe(true)
    expect(await consume(2, 2)).toBe(false)
    expect(await remaining('client')).toEqual([LIMIT - 1, 1])
    for (const slot of [2, 3, 4, 5]) expect(await consume(slot, 0)).toBe(true)
    expect(await consume(6, 1)).toBe(false)
    expect(await remaining('client')).toEqual([0, 1])
  })

  test('a block stays, also when slots are renewed and given back meanwhile', async ({
    ledger,
    takeAll,
    renew,
    giveBack,
    free,
  }, { clock }) => {
    await takeAll(1, 2)
    await ledger.block('client', 1000)
    await renew(charge(1), charge(2))
    await giveBack(2)
    clock.advance(999)
    expect(await takeAll(3)).toEqual([false])
    clock.advance(1)
    expect(await free()).toBe(LIMIT)
    await renew(charge(1))
    expect(await free()).toBe(LIMIT - 1)
  })

  describe('versions of an application that hold slots for different times', () => {
    const SHORT = HOLD / 10
    const brief = (slot: number, cost = 1): Charge => {
      return {
        ...charge(slot, 'client', cost),
        limit: concurrency.compile({ limit: LIMIT, windowMs: SHORT }),
      }
    }

    test('count together, and each slot ends by itself', async ({ ledger, takeAll, free }, {
      clock,
    }) => {
      await takeAll(1, 2, 3)
      for (const slot of [4, 5]) expect((await ledger.consume([brief(slot)])).admitted).toBe(true)
      expect((await ledger.consume([brief(6)])).admitted).toBe(false)
      expect(await takeAll(6)).toEqual([false])
      clock.advance(SHORT - 1)
      await ledger.settle([brief(4, -1)])
      expect(await free()).toBe(1)
      clock.advance(1)
      expect(await free()).toBe(2)
      await ledger.renew([[brief(6)]])
      clock.advance(SHORT)
      expect(await free()).toBe(2)
      clock.advance(HOLD - 2 * SHORT)
      expect(await free()).toBe(LIMIT)
    })

    test('hold each slot for no longer than it says, after the clock has stepped back', async ({
      ledger,
      takeAll,
      free,
    }, { clock }) => {
      await takeAll(1, 2)
      await ledger.consume([brief(3)])
      clock.advance(-100 * HOLD)
      const { outcomes } = await ledger.consume([brief(4)])
      expect([outcomes[0]!.remaining, outcomes[0]!.resetMs]).toEqual([LIMIT - 4, HOLD])
      clock.advance(SHORT - 1)
      expect(await free()).toBe(LIMIT - 4)
      clock.advance(1)
      expect(await free()).toBe(LIMIT - 2)
      clock.advance(HOLD - SHORT)
      expect(await free()).toBe(LIMIT)
    })
  })

  test('a clock that steps back holds no slot for longer than hold', async ({ takeAll, free }, {
    clock,
  }) => {
    await takeAll(1, 2, 3, 4, 5)
    clock.advance(-100 * HOLD)
    expect(await takeAll(6)).toEqual([false])
    clock.advance(HOLD - 1)
    expect(await free()).toBe(0)
    clock.advance(1)
    expect(await free()).toBe(LIMIT)
  })
}
