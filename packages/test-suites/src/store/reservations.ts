import type { Charge } from '@sluice/core'
import { algorithms, reserved } from '@sluice/core/algorithms'
import type { Claim } from '@sluice/core/store'
import { expect } from 'expect'
import { type Bench, LIMIT, type StoreTests, WINDOW } from './store-kit.ts'

/** How long an estimate is held, ms. */
const HOLD = 3000
/** How long a settlement is remembered at most, ms. */
const REMEMBERED = 3_900_000
const LIMITS = (['fixed-window', 'sliding-window', 'token-bucket'] as const).map((name) => {
  // So long that nothing which counts ends, or drains, meanwhile.
  const params = { limit: LIMIT, windowMs: 1e6 * WINDOW }
  const of = (holdMs: number) => reserved(algorithms[name]).compile({ ...params, holdMs })
  return [name, of(HOLD), of(HOLD / 10)] as const
})

/** The claim of a slot, or in a correction of what ends its reservation of some units. */
function claimOf(slot: number | undefined, units: number | undefined): Claim | undefined {
  if (slot === undefined) return undefined
  return units === undefined ? [slot] : [slot, 0, units]
}

/** Estimates that end with their process (`reserve`). */
export function reservations({ describe, test: testStore }: StoreTests): void {
  for (const [name, limit, briefLimit] of LIMITS)
    describe(name, () => {
      const charge = (cost: number, slot?: number, units?: number): Charge[] => [
        { key: 'client', limit, cost, claim: claimOf(slot, units) },
      ]
      const owned = (slot: number, owner: number): Charge[] => [
        { key: 'client', limit, cost: 1, claim: [slot, owner] },
      ]
      /** Another limit of a bucket rounds what was taken up by less than one unit. */
      const isAbout = (units: number, expected: number) =>
        expect(Math.abs(units - expected)).toBeLessThanOrEqual(name === 'token-bucket' ? 1 : 0)
      const test = (what: string, run: (bench: Bench, rig: ReturnType<typeof rigOf>) => unknown) =>
        testStore(what, async (bench) => {
          await run(bench, rigOf(bench))
        })
      const rigOf = ({ open }: Bench) => {
        const { ledger, remaining } = open([limit])
        return { ledger, used: async () => LIMIT - ((await remaining('client'))[0] as number) }
      }

      test('one that nobody renews is given back, to the millisecond', async ({ clock }, rig) => {
        const { ledger, used } = rig
        await ledger.consume(charge(3, 1))
        await ledger.consume(charge(1))
        clock.advance(HOLD - 1)
        expect(await used()).toBe(4)
        expect((await ledger.consume(charge(2, 2))).admitted).toBe(false)
        clock.advance(1)
        expect(await used()).toBe(1)
        expect((await ledger.consume(charge(4, 3))).admitted).toBe(true)
      })

      test('a settlement that is remembered is made once', async ({ clock }, rig) => {
        const { ledger, used } = rig
        const settle = async (slot: number, cost: number, units: number, ...more: number[]) => {
          const claim = [slot, 0, units, more[0] ?? 0, more[1] ?? 0]
          for (let i = 0; i < 2; i += 1)
            await ledger.settle([{ key: 'client', limit, cost, claim }])
        }
        await ledger.consume(charge(3, 1))
        await ledger.consume(charge(1))
        await settle(1, -2, 3)
        expect(await used()).toBe(2)
        // Of one that the store has lost, and of two without a reservation.
        await settle(2, -1, 2)
        expect(await used()).toBe(3)
        await settle(3, -1, 0)
        await settle(4, 2, 0)
        expect(await used()).toBe(4)
        clock.advance(HOLD)
        await settle(1, -2, 3)
        expect(await used()).toBe(4)
        // What is confirmed is forgotten, as is everything in the end.
        await settle(5, -1, 0, 1, 2)
        await settle(1, -2, 3)
        await settle(3, -1, 0)
        expect(await used()).toBe(4)
        clock.advance(REMEMBERED)
        await settle(3, -1, 0)
        expect(await used()).toBe(3)
      })

      test('settlements that are remembered take no place of reservations', async (_, rig) => {
        const { ledger, used } = rig
        for (let slot = 1; slot <= 2100; slot += 1) {
          await ledger.settle([{ key: 'client', limit, cost: 0, claim: [slot, 0, 0, 0, 0] }])
        }
        for (let slot = 3001; slot <= 3003; slot += 1)
          expect((await ledger.consume(charge(1, slot))).admitted).toBe(true)
        expect(await used()).toBe(3)
      })

      test('renewals hold it; a settlement ends it at its cost', async ({ clock }, rig) => {
        const { ledger, used } = rig
        await ledger.consume(charge(3, 1))
        for (let i = 0; i < 4; i += 1) {
          clock.advance(HOLD - 1)
          await ledger.renew([charge(3, 1)])
        }
        expect(await used()).toBe(3)
        await ledger.settle(charge(-2, 1, 3))
        clock.advance(HOLD)
        expect(await used()).toBe(1)
      })

      test('renewals hold those of all clients, however much their limits differ', async ({
        clock,
      }, { ledger }) => {
        // So many that they are not counted in milliseconds.
        const most = { limit: 999_983, windowMs: 1e6 * WINDOW, holdMs: HOLD }
        const large = reserved(algorithms[name]).compile(most)
        const clients = ['one', 'large', 'other'].map((name) => ({
          key: `{shard}${name}`,
          limit: name === 'large' ? large : limit,
          cost: 3,
          claim: [1],
        }))
        for (const each of clients) await ledger.consume([each])
        clock.advance(HOLD - 1)
        await ledger.renew(clients.map((each) => [each]))
        clock.advance(HOLD - 1)
        for (const { key, limit } of clients) {
          const { outcomes } = await ledger.peek([{ key, limit, cost: 0 }])
          expect(outcomes[0]?.remaining).toBe(limit.units - 3)
        }
      })

      test('settled after it was given back, it is charged; a late renewal holds nothing', async ({
        clock,
      }, rig) => {
        const { ledger, used } = rig
        const { at } = await ledger.consume(charge(4, 1))
        clock.advance(HOLD)
        await ledger.renew([charge(4, 1)])
        expect(await used()).toBe(0)
        await ledger.settle(charge(-1, 1, 4), at)
        expect(await used()).toBe(3)
        clock.advance(HOLD)
        expect(await used()).toBe(3)
      })

      test('a clock that steps back holds it no longer than before', async ({ clock }, rig) => {
        const { ledger, used } = rig
        await ledger.consume(charge(3, 1))
        clock.advance(-60_000)
        await ledger.consume(charge(1, 2))
        clock.advance(HOLD)
        expect(await used()).toBe(0)
      })

      test('a version that holds for a shorter time leaves it, and ends its own in time', async ({
        clock,
      }, rig) => {
        const { ledger, used } = rig
        const brief = (cost: number, slot?: number, units?: number) =>
          charge(cost, slot, units).map((each) => ({ ...each, limit: briefLimit }))
        await ledger.consume(charge(3, 1))
        await ledger.consume(brief(1, 2))
        expect((await ledger.consume(brief(2, 3))).admitted).toBe(false)
        await ledger.renew([brief(1, 2)])
        clock.advance(HOLD / 10)
        expect(await used()).toBe(3)
        await ledger.settle(brief(-1))
        expect((await ledger.consume(brief(4, 4))).admitted).toBe(false)
        clock.advance(HOLD - HOLD / 10 - 1)
        expect(await used()).toBe(2)
        clock.advance(1)
        expect(await used()).toBe(0)
      })

      test('what its client has of its own applies to it, and leaves it when it ends', async ({
        clock,
      }, rig) => {
        const { ledger } = rig
        const own = (units: number | undefined, until = Infinity) =>
          ledger.override(0, 'client', limit, units === undefined ? units : { limit: units, until })
        const left = async () => (await ledger.peek(charge(1))).outcomes[0]?.remaining ?? Number.NaN
        await own(9)
        const taken = await ledger.consume(charge(8, 1))
        expect(taken.outcomes[0]).toMatchObject({ admitted: true, remaining: 1, own: { units: 9 } })
        await ledger.settle(charge(-2, 1, 8), taken.at)
        expect((await ledger.consume(charge(3, 2))).admitted).toBe(true)
        clock.advance(HOLD - 1)
        await own(undefined)
        expect((await ledger.consume(charge(1, 3))).admitted).toBe(false)
        await own(20)
        await ledger.consume(charge(4, 4))
        await own(undefined)
        // The one that nobody renews is still known.
        clock.advance(1)
        await own(20)
        isAbout(await left(), 20 - 6 - 4 - 1)
        await own(20, clock() + HOLD)
        clock.advance(HOLD - 1)
        isAbout(await left(), 20 - 6 - 1)
        clock.advance(1)
        expect((await ledger.peek(charge(1))).outcomes[0]?.admitted).toBe(false)
        await ledger.settle(charge(-2))
        isAbout(await rig.used(), 4)
      })

      test('one is still known when the own limit of its client has ended', async ({
        clock,
      }, rig) => {
        const { ledger, used } = rig
        await ledger.override(0, 'client', limit, { limit: 9, until: Infinity })
        await ledger.consume(charge(3, 1))
        await ledger.override(0, 'client', limit, undefined)
        await ledger.consume(charge(1, 2))
        isAbout(await used(), 4)
        await ledger.renew([charge(3, 1)])
        clock.advance(HOLD)
        isAbout(await used(), 0)
      })

      test('one that finds too many others has the own limit of its client too', async (_, {
        ledger,
      }) => {
        await ledger.override(0, 'client', limit, { limit: 10_000, until: Infinity })
        for (let slot = 1; slot <= 1000; slot += 1) await ledger.consume(owned(slot, 7))
        const { outcomes } = await ledger.consume(owned(2007, 7))
        expect(outcomes[0]).toMatchObject({ admitted: false, own: { units: 10_000 } })
        const { admitted } = await ledger.consume(owned(2008, 8))
        expect(admitted).toBe(true)
      })

      if (name !== 'token-bucket')
        test('a top-up adds to its limit', async ({ clock }, { ledger, used }) => {
          await ledger.consume(charge(4, 1))
          const grant = { units: 3, until: clock() + 2 * HOLD, id: '' }
          expect(await ledger.grant(0, 'client', limit, grant)).toBe('granted')
          const { outcomes } = await ledger.consume(charge(4, 2))
          expect(outcomes[0]).toMatchObject({ admitted: true, remaining: 0, own: { units: 8 } })
          clock.advance(HOLD)
          expect((await ledger.peek(charge(8))).outcomes[0]?.admitted).toBe(true)
          clock.advance(HOLD)
          expect(await used()).toBe(0)
        })

      test('reset and block end it', async ({ clock }, { ledger, used }) => {
        await ledger.consume(charge(3, 1))
        await ledger.reset('client')
        await ledger.renew([charge(3, 1)])
        expect(await used()).toBe(0)
        await ledger.consume(charge(3, 2))
        await ledger.block('client', 1000)
        await ledger.renew([charge(3, 2)])
        clock.advance(1000)
        expect(await used()).toBe(0)
      })
    })
}
