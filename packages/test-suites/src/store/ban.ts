import type { Charge, StoreResult } from '@sluice/core'
import { ban } from '@sluice/core/algorithms'
import { expect } from 'expect'
import { type Bench, copy, LIMIT, limitOf, type StoreTests, WINDOW } from './store-kit.ts'

const AFTER = 3
const WITHIN = 6 * WINDOW
const SHORT = 2 * WINDOW
const LONG = 10 * WINDOW

const POLICY = limitOf('fixed-window')
const BAN = ban.compile({ limit: AFTER, windowMs: WITHIN, bansMs: [SHORT, LONG] })

/** A policy, and the ban that counts what it refuses. */
interface Banning {
  /** @param counted the refusals that this request can be: 0 for one that only looks */
  ask(key?: string, counted?: 0 | 1): Promise<StoreResult>
  /** Uses up the policy, and asks so many times more. */
  refuse(times: number): Promise<void>
  /** Until when the ban lasts from now, ms; 0 without one. */
  bannedMs(key?: string): Promise<number>
  reset(key?: string): Promise<void>
  block(durationMs: number): Promise<void>
}

function banningOf({ open }: Bench): Banning {
  const { ledger } = open([POLICY, BAN])
  const charges = (key: string, cost: number, counted: number): Charge[] => [
    { key, limit: POLICY, cost },
    { key, limit: BAN, cost: counted },
  ]
  const ask = async (key = 'client', counted: 0 | 1 = 1) => {
    const result = ledger.consume(charges(key, 1, counted))
    return result instanceof Promise ? await result : copy(result)
  }
  return {
    ask,
    async refuse(times) {
      const { outcomes } = await ledger.peek(charges('client', 0, 0))
      await ledger.consume(charges('client', outcomes[0]!.remaining, 0))
      for (let i = 0; i < times; i += 1) await ask()
    },
    bannedMs: async (key = 'client') => {
      const { outcomes } = await ledger.peek(charges(key, 0, 0))
      return outcomes[1]!.retryAfterMs
    },
    reset: async (key = 'client') => ledger.reset([key, key]),
    block: async (durationMs) => ledger.block(['client', 'client'], durationMs),
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
    const { outcomes } = await ask()
    expect(outcomes[1]).toMatchObject({ admitted: false, remaining: 0, retryAfterMs: SHORT })
    clock.advance(SHORT - 1)
    expect((await ask()).outcomes.map(({ admitted }) => admitted)).toEqual([true, false])
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
    refuse,
    bannedMs,
  }, { clock }) => {
    for (let i = 0; i < 3; i += 1) {
      await refuse(0)
      clock.advance(WINDOW)
    }
    await refuse(AFTER - 1)
    for (let i = 0; i < 5; i += 1) await ask('client', 0)
    expect(await bannedMs()).toBe(0)
    await ask()
    expect(await bannedMs()).toBe(SHORT)
  })

  test('a refusal of another key is not counted', async ({ bannedMs }, { open }) => {
    const { ledger } = open([POLICY, BAN])
    // Where keys are decided separately, a call has one key.
    if (ledger.part !== undefined) return
    const policy: Charge = { key: 'other', limit: POLICY, cost: LIMIT }
    for (let i = 0; i < 5; i += 1) {
      await ledger.consume([policy, { key: 'client', limit: BAN, cost: 1 }])
    }
    expect([await bannedMs(), await bannedMs('other')]).toEqual([0, 0])
  })

  test('simultaneous refusals begin one ban', async ({ ask, refuse, bannedMs }) => {
    await refuse(0)
    const all = await Promise.all(Array.from({ length: 50 }, () => ask()))
    expect(all.filter(({ outcomes }) => outcomes[1]!.admitted)).toHaveLength(AFTER - 1)
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
    expect((await ask()).outcomes[1]!.retryAfterMs).toBe(100)
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
    expect((await ask()).outcomes[1]!.admitted).toBe(true)
  })
}
