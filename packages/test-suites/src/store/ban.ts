import type { Charge, StoreResult } from '@sluice/core'
import { ban } from '@sluice/core/algorithms'
import { withRefusals } from '@sluice/core/store'
import { withVerbs } from '@sluice/core/testing'
import { expect } from 'expect'
import { type Bench, LIMIT, limitOf, type StoreTests, WINDOW } from './store-kit.ts'

const AFTER = 3
const WITHIN = 6 * WINDOW
const SHORT = 2 * WINDOW
const LONG = 10 * WINDOW

const POLICY = limitOf('fixed-window')
const BAN = ban.compile({ limit: AFTER, windowMs: WITHIN, bansMs: [SHORT, LONG] })

/** The outcome behind that of the policies. */
const banOf = ({ outcomes }: StoreResult) => outcomes.at(-1)!

/** A policy, and the ban that counts what it refuses. */
interface Banning {
  ask(): Promise<StoreResult>
  /** Peeks at the keys of a request just before it. */
  preview(): Promise<void>
  /** Uses up the policy, and asks so many times more. */
  refuse(times: number): Promise<void>
  /** The time until the ban ends, ms; 0 without one. */
  bannedMs(key?: string): Promise<number>
  reset(): Promise<void>
  block(durationMs: number): Promise<void>
}

function banningOf({ open }: Bench): Banning {
  const { ledger, consume, peek, reset, block } = open([POLICY], { ban: BAN })
  return {
    ask: () => consume('client'),
    preview: async () => {
      await ledger.consume(withRefusals([{ key: 'client', limit: POLICY, cost: 0 }], BAN, 0))
    },
    async refuse(times) {
      const { outcomes } = await peek('client')
      await consume('client', outcomes[0]!.remaining)
      for (let i = 0; i < times; i += 1) await consume('client')
    },
    bannedMs: async (key = 'client') => banOf(await peek(key)).retryAfterMs,
    reset: () => reset('client'),
    block: (durationMs) => block('client', durationMs),
  }
}

/** The option `ban` of a limiter: it counts refusals instead of what is admitted. */
export function bans({ test: testStore }: StoreTests): void {
  const test = (name: string, run: (banning: Banning, bench: Bench) => Promise<void>) =>
    testStore(name, (bench) => run(banningOf(bench), bench))

  test('so many refusals refuse everything for so long, to the millisecond', async ({
    ask,
    refuse,
    bannedMs,
  }, { clock }) => {
    await refuse(AFTER - 1)
    expect(await bannedMs()).toBe(0)
    expect(banOf(await ask())).toMatchObject({ admitted: false, remaining: 0, retryAfterMs: SHORT })
    clock.advance(SHORT - 1)
    const { outcomes } = await ask()
    expect(outcomes.map(({ admitted }) => admitted)).toEqual([true, false])
    clock.advance(1)
    expect((await ask()).admitted).toBe(true)
  })

  test('what it refuses itself is not counted, and charges no policy', async ({
    ask,
    refuse,
    bannedMs,
  }, { clock }) => {
    await refuse(AFTER)
    for (let i = 0; i < 10; i += 1) await ask()
    expect(await bannedMs()).toBe(SHORT)
    clock.advance(SHORT)
    expect((await ask()).outcomes[0]!.remaining).toBe(LIMIT - 1)
  })

  test('the next one lasts longer, until all is forgotten', async ({ refuse, bannedMs }, {
    clock,
  }) => {
    await refuse(AFTER)
    clock.advance(SHORT)
    for (let i = 0; i < 2; i += 1) {
      await refuse(AFTER)
      expect(await bannedMs()).toBe(LONG)
      clock.advance(LONG)
    }
    clock.advance(WITHIN)
    await refuse(AFTER)
    expect(await bannedMs()).toBe(SHORT)
  })

  test('requests that are admitted, or only look, are not counted', async ({
    ask,
    preview,
    refuse,
    bannedMs,
  }, { clock }) => {
    for (let i = 0; i < 3; i += 1) {
      await refuse(0)
      clock.advance(WINDOW)
    }
    await refuse(AFTER - 1)
    for (let i = 0; i < 5; i += 1) await preview()
    expect(await bannedMs()).toBe(0)
    await ask()
    expect(await bannedMs()).toBe(SHORT)
  })

  test('a request with its preview, in one call, is counted once', async ({ refuse, bannedMs }, {
    open,
  }) => {
    const { ledger } = open([POLICY], { ban: BAN })
    const charge: Charge = { key: 'client', limit: POLICY, cost: 0 }
    const ask = () => ledger.decide([withRefusals([charge], BAN, 0), withRefusals([charge], BAN)])
    await refuse(0)
    for (let i = 1; i < AFTER; i += 1) await ask()
    expect(await bannedMs()).toBe(0)
    await ask()
    expect(await bannedMs()).toBe(SHORT)
  })

  test('a request that waits is charged once admitted, and its refusals are not counted', async ({
    bannedMs,
  }, { open }) => {
    const { ledger } = open([POLICY], { ban: BAN })
    const charges = withRefusals([{ key: 'client', limit: POLICY, cost: LIMIT }], BAN, 0)
    expect((await ledger.consume(charges)).admitted).toBe(true)
    for (let i = 0; i < 2 * AFTER; i += 1)
      expect((await ledger.consume(charges)).admitted).toBe(false)
    expect(await bannedMs()).toBe(0)
  })

  test('a refusal of another key is not counted', async ({ bannedMs }, { open }) => {
    const { ledger } = open([POLICY, POLICY], { ban: BAN })
    // Where keys are decided separately, a call has keys of one shard.
    const [client, another] = ['{shard}client', '{shard}other'] as const
    const other: Charge = { key: another, limit: POLICY, cost: LIMIT }
    for (let i = 0; i < 5; i += 1) {
      await ledger.consume(withRefusals([{ key: client, limit: POLICY, cost: 0 }, other], BAN))
    }
    expect([await bannedMs(client), await bannedMs(another)]).toEqual([0, 0])
    // Whichever policy with its key refuses.
    for (let i = 0; i < AFTER; i += 1) {
      await ledger.consume(withRefusals([{ ...other, cost: 0 }, other], BAN))
    }
    expect([await bannedMs(client), await bannedMs(another)]).toEqual([0, SHORT])
  })

  test('a refusal is counted whatever the names of the policies are', async ({ bannedMs }, {
    store,
    prefix,
  }) => {
    const policies = ['a}:b', 'c'].map((name) => ({ name, algorithm: POLICY.algorithm }))
    const ban = { name: 'ban', algorithm: BAN.algorithm, limit: BAN }
    const ledger = withVerbs(store.open([...policies, ban], prefix))
    const charge: Charge = { key: 'client', limit: POLICY, cost: 0 }
    const request = withRefusals([charge, { ...charge, cost: LIMIT }], BAN)
    for (let i = 0; i <= AFTER; i += 1) await ledger.consume(request)
    expect(await bannedMs()).toBe(SHORT)
  })

  test('requests of one call have each the ban of their own client', async ({ bannedMs }, {
    open,
  }) => {
    const { ledger } = open([POLICY], { ban: BAN })
    const [banned, other] = ['{shard}banned', '{shard}other'] as const
    const asked = (key: string, cost: number) => withRefusals([{ key, limit: POLICY, cost }], BAN)
    const [, ...refused] = Array.from({ length: AFTER + 1 }, () => asked(banned, LIMIT))
    const results = await ledger.decide([
      asked(banned, LIMIT),
      asked(other, 1),
      ...refused,
      asked(other, LIMIT),
    ])
    const bans = results.map((result) => banOf(result as StoreResult))
    const left = bans.map((each) => each.admitted && each.remaining)
    expect(left).toEqual([3, 3, 2, 1, false, 2])
    expect([await bannedMs(banned), await bannedMs(other)]).toEqual([SHORT, 0])
  })

  test('simultaneous refusals begin one ban', async ({ ask, refuse, bannedMs }) => {
    await refuse(0)
    const all = await Promise.all(Array.from({ length: 50 }, () => ask()))
    expect(all.filter((result) => banOf(result).admitted)).toHaveLength(AFTER - 1)
    expect(await bannedMs()).toBe(SHORT)
  })

  test('reset ends it, and forgets what was counted', async ({ ask, refuse, reset, bannedMs }) => {
    for (let i = 0; i < 2; i += 1) {
      await refuse(AFTER)
      expect(await bannedMs()).toBe(SHORT)
      await reset()
      expect((await ask()).outcomes[0]!.remaining).toBe(LIMIT - 1)
    }
    await refuse(AFTER - 1)
    await reset()
    await refuse(AFTER - 1)
    expect(await bannedMs()).toBe(0)
  })

  test('a block takes its place', async ({ ask, refuse, block, bannedMs }, { clock }) => {
    await refuse(AFTER)
    await block(100)
    const result = await ask()
    expect([banOf(result).admitted, result.outcomes[0]!.retryAfterMs]).toEqual([true, 100])
    clock.advance(100)
    expect((await ask()).admitted).toBe(true)
    await refuse(AFTER)
    expect(await bannedMs()).toBe(SHORT)
  })

  test('a clock that steps back bans nobody for longer than so long', async ({ ask, refuse }, {
    clock,
  }) => {
    await refuse(AFTER)
    clock.advance(-100 * WITHIN)
    await ask()
    clock.advance(SHORT)
    expect(banOf(await ask()).admitted).toBe(true)
  })
}
