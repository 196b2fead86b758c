import { algorithms, ban, concurrency } from '@sluice/core/algorithms'
import { type CompiledLimit, Policy } from '@sluice/core/store'
import { expect } from 'expect'
import { algorithmNames, type Bench, type StoreTests } from './store-kit.ts'

const HOUR = 3_600_000

/** The ledger of one version of an application, with this limit an hour. */
function versionOf(bench: Bench, name: (typeof algorithmNames)[number], limit: number) {
  return bench.open([algorithms[name].compile({ limit, windowMs: HOUR, maxDelayMs: HOUR })])
}

type Version = ReturnType<typeof versionOf>

/** Units that a key never seen has. */
async function fullOf(version: Version): Promise<number> {
  return (await version.remaining('never seen'))[0] as number
}

/** Takes single units with one version after the other until all refuse; returns how many there were. */
async function drain(versions: readonly Version[], key: string): Promise<number> {
  let taken = 0
  for (let refused = 0, turn = 0; refused < versions.length; turn += 1) {
    const { admitted } = await (versions[turn % versions.length] as Version).consume(key)
    refused = admitted ? 0 : refused + 1
    if (admitted) taken += 1
  }
  return taken
}

/** A changed limit changes the limit, not the count. */
export function keepsCountsOfChangedLimits({ describe, test }: StoreTests): void {
  for (const name of algorithmNames) {
    describe(name, () => {
      test('what was used counts for a raised limit, and for a lowered one', async (bench) => {
        const before = versionOf(bench, name, 10_000)
        expect((await before.consume('client', 9_900)).admitted).toBe(true)
        for (const limit of [9_990, 10_000].concat(
          name === 'sliding-log' ? [] : [12_000, 77_777],
        )) {
          const version = versionOf(bench, name, limit)
          expect(await version.remaining('client')).toEqual([(await fullOf(version)) - 9_900])
        }
      })

      test('two versions side by side admit the larger limit together', async (bench) => {
        const versions = [10, 12].map((limit) => versionOf(bench, name, limit))
        const largest = await fullOf(versions[1] as Version)
        expect(await drain(versions, 'a')).toBe(largest)
        expect(await drain(versions.reverse(), 'b')).toBe(largest)
        expect(await drain(versions, 'b')).toBe(0)
      })

      test('each version answers by its own limit', async (bench) => {
        const [small, large] = [7, 11].map((limit) => versionOf(bench, name, limit))
        for (let i = 0; i < 5; i += 1) {
          await (i % 2 ? small : large)?.consume('client')
          for (const version of [small, large] as Version[]) {
            expect(await version.remaining('client')).toEqual([(await fullOf(version)) - i - 1])
          }
        }
      })

      test('a lowered limit leaves debt, which drains: the wait is exact', async (bench) => {
        const [large, small] = [120, 100].map((limit) => versionOf(bench, name, limit)) as [
          Version,
          Version,
        ]
        await large.consume('client', 120)
        bench.clock.advance(600_000)
        const { admitted, outcomes } = await small.consume('client')
        expect([admitted, outcomes[0]?.remaining]).toEqual([false, 0])
        bench.clock.advance((outcomes[0]?.retryAfterMs as number) - 1)
        expect((await small.peek('client', 1)).admitted).toBe(false)
        bench.clock.advance(1)
        expect((await small.consume('client')).admitted).toBe(true)
      })

      test('a refusal changes nothing for another limit in the same call', async (bench) => {
        const [small, large] = [7, 120].map((limit) =>
          algorithms[name].compile({ limit, windowMs: HOUR, maxDelayMs: HOUR }),
        ) as [CompiledLimit, CompiledLimit]
        const { ledger } = bench.open([small])
        await ledger.consume([{ key: 'client', limit: large, cost: 120 }])
        bench.clock.advance(HOUR / 7)
        const asked = [{ key: 'client', limit: large, cost: 100 }]
        const results = await ledger.decide([[{ key: 'client', limit: small, cost: 1 }], asked])
        const alone = await ledger.consume(asked)
        expect(results[1]).toEqual(alone)
        expect(alone.admitted).toBe(false)
      })

      test('where limits differ by request, a smaller one sees what a larger one has taken', async (bench) => {
        const [small, large] = [1, 100].map((limit) =>
          algorithms[name].compile({ limit, windowMs: HOUR, varies: true }),
        ) as [CompiledLimit, CompiledLimit]
        const { ledger } = bench.open([small])
        const ask = async (limit: CompiledLimit) =>
          (await ledger.consume([{ key: 'client', limit, cost: 1 }])).admitted
        expect(await ask(small)).toBe(true)
        for (let i = 0; i < 4; i += 1) {
          bench.clock.advance(HOUR / 20)
          await bench.sweep()
          expect([await ask(small), await ask(large)]).toEqual([false, true])
        }
      })

      test('a charge of the version before can be given back', async (bench) => {
        const { at } = await versionOf(bench, name, 9).consume('client', 6)
        const version = versionOf(bench, name, 14)
        // A leaky bucket would have to know what remained.
        const units = name === 'leaky-bucket' ? 6 : 4
        await version.settle('client', -units, at)
        expect(await version.remaining('client')).toEqual([(await fullOf(version)) - 6 + units])
      })
    })
  }

  test('a window of the calendar keeps its count', async (bench) => {
    const [before, raised] = [10_000, 12_000].map((limit) =>
      bench.open([new Policy('', { limit, window: 'month' }).limitFor()]),
    ) as [Version, Version]
    await before.consume('client', 9_900)
    expect(await raised.remaining('client')).toEqual([2_100])
  })

  test('slots in progress count for another number of slots', async ({ open }) => {
    const [three, five, two] = [3, 5, 2].map((limit) => {
      return open([concurrency.compile({ limit, windowMs: HOUR })])
    }) as [Version, Version, Version]
    const take = async ({ ledger, charges }: Version, slot: number) => {
      const [charge] = charges('client', 1)
      return (await ledger.consume([{ ...charge!, claim: [slot] }])).admitted
    }
    for (const slot of [1, 2, 3]) expect(await take(three, slot)).toBe(true)
    expect(await take(three, 4)).toBe(false)
    expect(await five.remaining('client')).toEqual([2])
    expect(await take(five, 4)).toBe(true)
    expect([await take(two, 5), await two.remaining('client')]).toEqual([false, [0]])
    expect(await take(five, 5)).toBe(true)
    expect(await take(five, 6)).toBe(false)
  })

  test('refusals count on towards a ban that takes another number of them', async ({ open }) => {
    const none = fixedWindow(0)
    const versionWith = (limit: number) => {
      return open([none], { ban: ban.compile({ limit, windowMs: HOUR, bansMs: [1000] }) })
    }
    const refuse = async (version: Version) => (await version.consume('client')).outcomes[1]
    const patient = versionWith(5)
    for (const remaining of [4, 3, 2]) expect(await refuse(patient)).toMatchObject({ remaining })
    expect((await versionWith(2).peek('client')).outcomes[1]).toMatchObject({
      admitted: true,
      remaining: 0,
    })
    expect(await refuse(versionWith(4))).toMatchObject({ admitted: false, retryAfterMs: 1000 })
  })
}

const fixedWindow = (limit: number) => algorithms['fixed-window'].compile({ limit, windowMs: HOUR })
