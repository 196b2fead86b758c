import { ban } from '@sluice/core/algorithms'
import type { Charge } from '@sluice/core/store'
import { expect } from 'expect'
import { algorithmNames, LIMIT, limitOf, type Rig, type StoreTests, WINDOW } from './store-kit.ts'

/** The charge against the same limit, which refuses nothing (`CompiledLimit.refuses`). */
function asDryRun(charge: Charge): Charge {
  const { algorithm, params } = charge.limit
  return { ...charge, limit: algorithm.compile({ ...params, refuses: false }) }
}

/** Charges against limits that refuse nothing. */
export function dryRuns({ describe, test }: StoreTests): void {
  /** Consumes with the second policy as a dry run. */
  const consumeDry = async ({ ledger, charges, counted }: Rig, key: string, cost = 1) => {
    const [enforced, dry] = charges(key, cost)
    const result = await ledger.consume(counted([enforced!, asDryRun(dry!)]))
    return { ...result, outcomes: result.outcomes.map((outcome) => ({ ...outcome })) }
  }

  for (const name of algorithmNames)
    describe(name, () => {
      const limit = limitOf(name)

      test('alone, it refuses nothing, and is charged what it would admit', async ({ open }) => {
        const { ledger, charges, remaining } = open([limit])
        for (let i = 0; i <= LIMIT; i += 1) {
          const [charge] = charges('client', 1)
          const { admitted, outcomes } = await ledger.consume([asDryRun(charge!)])
          expect([admitted, outcomes[0]?.admitted]).toEqual([true, i < LIMIT])
        }
        expect(await remaining('client')).toEqual([0])
      })

      test('beside another policy, it lets that one decide', async ({ open }) => {
        const rig = open([limit, limit])
        await rig.settle('client', LIMIT - 1)
        const { admitted, outcomes } = await consumeDry(rig, 'client', 1)
        expect([admitted, outcomes.map((each) => each.admitted)]).toEqual([true, [true, true]])
        const refused = await consumeDry(rig, 'client', 1)
        expect([refused.admitted, refused.outcomes[0]?.remaining]).toEqual([false, 0])
      })

      test('what it would refuse is charged to the others alone', async ({ open }) => {
        const rig = open([limit, limit])
        const [, dry] = rig.charges('client', LIMIT - 1)
        await rig.ledger.settle([{ ...rig.charges('client', 0)[0]! }, dry!])
        const { admitted, outcomes } = await consumeDry(rig, 'client', 2)
        expect([admitted, outcomes.map((each) => each.admitted)]).toEqual([true, [true, false]])
        expect(await rig.remaining('client')).toEqual([LIMIT - 2, 1])
      })

      test('what another policy refuses is not charged to it', async ({ open }) => {
        const rig = open([limit, limit])
        const [enforced] = rig.charges('client', LIMIT)
        await rig.ledger.settle([enforced!, rig.charges('client', 0)[1]!])
        expect((await consumeDry(rig, 'client', 1)).admitted).toBe(false)
        expect(await rig.remaining('client')).toEqual([0, LIMIT])
      })
    })

  test('a ban does not count what it would refuse, and refuses it while it lasts', async ({
    open,
  }) => {
    const [limit, BAN] = [
      limitOf('fixed-window'),
      ban.compile({ limit: 2, windowMs: WINDOW, bansMs: [WINDOW] }),
    ]
    const rig = open([limit, limit], { ban: BAN })
    await rig.ledger.settle([rig.charges('client', 0)[0]!, rig.charges('client', LIMIT)[1]!])
    for (let i = 0; i < LIMIT; i += 1) expect((await consumeDry(rig, 'client')).admitted).toBe(true)
    for (let i = 0; i < 2; i += 1) await consumeDry(rig, 'client')
    expect((await rig.peek('client')).outcomes[2]!.admitted).toBe(false)
    expect((await consumeDry(rig, 'client', 0)).admitted).toBe(false)
  })

  test('a ban does not count what it would refuse where another key is refused', async ({
    open,
  }) => {
    const limit = limitOf('fixed-window')
    const once = ban.compile({ limit: 1, windowMs: WINDOW, bansMs: [WINDOW] })
    const { ledger, charges, counted, peek } = open([limit, limit], { ban: once })
    const request = (cost: number) => {
      const [dry, enforced] = charges('{shard}client', cost)
      return [asDryRun(dry!), { ...enforced!, key: '{shard}other' }]
    }
    await ledger.settle(request(LIMIT))
    expect((await ledger.consume(counted(request(1)))).admitted).toBe(false)
    expect((await peek('{shard}client')).outcomes[2]!.admitted).toBe(true)
  })
}
