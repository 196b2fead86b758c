import {
  type AlgorithmName,
  createLimiter,
  type LimiterOptions,
  type StoreResult,
} from '@sluice/core'
import { algorithms, concurrency } from '@sluice/core/algorithms'
import { type CompiledLimit, KeyState, Policy } from '@sluice/core/store'
import { expect } from 'expect'
import { algorithmNames, type Bench, copy, type StoreTests } from './store-kit.ts'

const HOUR = 3_600_000
const LIMIT = 5

type Rig = ReturnType<Bench['open']>
/** The first policy of a ledger. */
type Own = Rig & {
  readonly limit: CompiledLimit
  /** Sets its limit for the key `client`, or ends that. */
  override(limit: number | undefined, until?: number): Promise<void>
  grant(units: number, options?: { until?: number; id?: string }): Promise<unknown>
}

const limitOf = (name: AlgorithmName, limit = LIMIT) =>
  algorithms[name].compile({ limit, windowMs: HOUR, maxDelayMs: HOUR })

function ownOf(rig: Rig, limit: CompiledLimit): Own {
  const { ledger } = rig
  return {
    ...rig,
    limit,
    override: async (units, until = Infinity) => {
      const { burst, maxDelayMs } = limit.params
      const override = units === undefined ? undefined : { limit: units, burst, maxDelayMs, until }
      await ledger.override(0, 'client', limit, override)
    },
    grant: async (units, { until, id = '' } = {}) => {
      return ledger.grant(0, 'client', limit, {
        units,
        until,
        id: id === '' ? id : id.padStart(24, '0'),
      })
    },
  }
}

/** The units of a new key by a limit. */
function fullOf({ algorithm, params }: CompiledLimit, limit = params.limit): number {
  const state = new KeyState()
  algorithm.compile({ ...params, limit }).decide(state, 1_800_000_000_000, 0)
  return state.remaining
}

/** Takes single units until one is refused; returns how many there were. */
async function drain({ consume }: Rig, key = 'client'): Promise<number> {
  let taken = 0
  while ((await consume(key)).admitted) taken += 1
  return taken
}

/** A client's own limit and top-ups. */
export function ownLimits({ describe, test }: StoreTests): void {
  const testWith = (
    name: string,
    limit: CompiledLimit,
    run: (own: Own, bench: Bench) => Promise<void>,
  ) => test(name, (bench) => run(ownOf(bench.open([limit]), limit), bench))

  testWith(
    'whatever a client has ends when it said, a block also after an own limit and a top-up',
    limitOf('fixed-window'),
    async (own, { clock }) => {
      const standing = async () => [
        (await own.consume('client', 0)).admitted,
        ...(await own.remaining('client')),
      ]
      await own.override(9, clock() + 100)
      await own.grant(2, { until: clock() + 200 })
      await own.block('client', 300)
      clock.advance(299)
      expect(await standing()).toEqual([false, 0])
      clock.advance(1)
      expect(await standing()).toEqual([true, LIMIT])
      await own.block('client', 100)
      await own.override(9, clock() + 200)
      await own.grant(2, { until: clock() + 300 })
      clock.advance(100)
      expect(await standing()).toEqual([true, 11])
      clock.advance(100)
      expect(await standing()).toEqual([true, LIMIT + 2])
      clock.advance(100)
      expect(await standing()).toEqual([true, LIMIT])
    },
  )

  const most = Number.MAX_SAFE_INTEGER
  testWith(
    'a top-up of the largest limits is exact',
    limitOf('fixed-window', most - 5),
    async (own) => {
      await own.consume('client', most - 5)
      expect(await own.grant(3)).toBe('granted')
      expect(await own.remaining('client')).toEqual([3])
      await own.consume('client', 2)
      expect(await own.remaining('client')).toEqual([1])
      expect(await own.grant(3, { id: 'a' })).toBe('too much')
    },
  )

  testWith(
    'a decision says when the first of several top-ups ends',
    limitOf('fixed-window'),
    async (own, { clock }) => {
      const from = clock()
      for (const ms of [2000, 1000, 3000]) await own.grant(1, { until: from + ms })
      const ends = []
      for (; clock() < from + 3000; clock.advance(1000)) {
        const { outcomes } = await own.ledger.peek(own.charges('client', 1))
        ends.push(clock() + (outcomes[0]?.ownMs ?? 0) - from)
      }
      expect(ends).toEqual([1000, 2000, 3000])
    },
  )

  for (const name of ['token-bucket', 'leaky-bucket'] as const) {
    const params = { windowMs: HOUR, burst: 3, maxDelayMs: HOUR }
    const limit = algorithms[name].compile({ ...params, limit: LIMIT })
    testWith(
      `it has its own burst and delay, whatever the policy has now: ${name}`,
      limit,
      async (own) => {
        const others = [{ burst: 20, maxDelayMs: HOUR / 2 }, {}]
        for (const { burst, maxDelayMs } of others as Partial<typeof params>[]) {
          const terms = { limit: 9, burst, maxDelayMs }
          await own.ledger.override(0, 'client', limit, { ...terms, until: Infinity })
          const full = fullOf(algorithms[name].compile({ ...terms, windowMs: HOUR }))
          expect(await own.remaining('client')).toEqual([full])
        }
      },
    )
  }

  for (const name of algorithmNames) {
    describe(name, () => {
      const limit = limitOf(name)
      const full = (units: number) => fullOf(limit, units)

      testWith(
        'what was used counts for it, and for the policy when it has ended',
        limit,
        async (own) => {
          const used = full(LIMIT) - 2
          await own.consume('client', used)
          for (const units of [9, 20, 6]) {
            await own.override(units)
            expect(await own.remaining('client')).toEqual([full(units) - used])
          }
          await own.override(1)
          expect((await own.consume('client')).admitted).toBe(false)
          await own.override(undefined)
          expect(await own.remaining('client')).toEqual([2])
        },
      )

      testWith('a client without a state has it too, another one has not', limit, async (own) => {
        await own.override(9)
        const { outcomes } = await own.consume('client')
        expect(outcomes[0]?.remaining).toBe(full(9) - 1)
        expect(await own.remaining('other')).toEqual([full(LIMIT)])
      })

      testWith('0 refuses everything', limit, async (own) => {
        await own.consume('client')
        await own.override(0)
        for (const cost of [0, 1]) {
          const { admitted, outcomes } = await own.consume('client', cost)
          expect([admitted, outcomes[0]?.remaining, outcomes[0]?.retryAfterMs]).toEqual([
            false,
            0,
            Infinity,
          ])
        }
      })

      testWith(
        'it ends at its time, and not a millisecond before',
        limit,
        async (own, { clock }) => {
          await own.override(9, clock() + 300)
          clock.advance(299)
          expect(await own.remaining('client')).toEqual([full(9)])
          clock.advance(1)
          expect(await own.remaining('client')).toEqual([full(LIMIT)])
          await own.consume('client')
          expect(await own.remaining('client')).toEqual([full(LIMIT) - 1])
        },
      )

      testWith('reset, block, settle and a long time leave it', limit, async (own, { clock }) => {
        await own.override(9)
        const { at } = await own.consume('client', 3)
        await own.settle('client', -3, at)
        expect(await own.remaining('client')).toEqual([full(9)])
        await own.consume('client', 3)
        await own.reset('client')
        expect(await own.remaining('client')).toEqual([full(9)])
        await own.consume('client', 3)
        await own.block('client', 300)
        expect((await own.consume('client')).outcomes[0]).toMatchObject({ retryAfterMs: 300 })
        clock.advance(299)
        expect((await own.consume('client')).admitted).toBe(false)
        clock.advance(1)
        expect(await own.remaining('client')).toEqual([full(9)])
        clock.advance(10_000 * HOUR)
        expect(await own.remaining('client')).toEqual([full(9)])
        await own.block('client', 300)
        await own.override(12)
        expect((await own.consume('client')).admitted).toBe(false)
        clock.advance(300)
        expect(await own.remaining('client')).toEqual([full(12)])
        await own.override(undefined)
        await own.reset('client')
        expect(await own.remaining('client')).toEqual([full(LIMIT)])
      })

      testWith(
        'set and ended in a loop, it gives no more than its limit',
        limit,
        async (own, { clock }) => {
          let taken = 0
          for (let turn = 0; turn < 20; turn += 1) {
            await own.override(turn % 3 === 0 ? 9 : 2 + (turn % 7), clock() + HOUR)
            if ((await own.consume('client')).admitted) taken += 1
            if (turn % 2 === 0) await own.override(undefined)
            if ((await own.consume('client')).admitted) taken += 1
          }
          await own.override(9)
          expect(taken + (await drain(own))).toBe(full(9))
        },
      )

      testWith('overrides that end and return lose no count', limit, async (own, { clock }) => {
        let taken = 0
        for (let turn = 0; turn < 5; turn += 1) {
          await own.override(9, clock() + 10)
          taken += Number((await own.consume('client')).admitted)
          clock.advance(10)
        }
        await own.override(9)
        taken += await drain(own)
        // A bucket drains meanwhile, by less than a unit.
        expect(taken).toBe(full(9))
      })

      testWith('the wait by it is exact', limit, async (own, { clock }) => {
        await own.override(7)
        const { outcomes } = await own.consume('client', full(7) + 1)
        expect(outcomes[0]?.retryAfterMs).toBe(Infinity)
        await drain(own)
        const wait = (await own.peek('client', 1)).outcomes[0]?.retryAfterMs as number
        clock.advance(wait - 1)
        expect((await own.peek('client', 1)).admitted).toBe(false)
        clock.advance(1)
        expect((await own.consume('client')).admitted).toBe(true)
      })

      test('every store of the same states has it, whatever the limit of its policy', async (bench) => {
        const other = limitOf(name, 3)
        await ownOf(bench.open([limit]), limit).override(9)
        expect(await bench.open([other]).remaining('client')).toEqual([full(9)])
      })
    })
  }

  test('its policy has it with any window and algorithm, and no other policy has it', async ({
    store,
    prefix,
  }) => {
    const limiterWith = ({ prefix: own = prefix, ...policy }: { prefix?: string }) => {
      const policies = [{ name: 'default', limit: LIMIT, window: '1h', ...policy }]
      const options: unknown = { store, prefix: own, deadline: '10s', policies }
      return createLimiter(options as LimiterOptions<'async'>)
    }
    const given = limiterWith({})
    await given.override('client', { limit: 9 })
    await given.block('blocked', '1m')
    const found = []
    const versions: object[] = [{ window: '1m' }, { algorithm: 'token-bucket' }, { window: 'day' }]
    for (const policy of [...versions, { name: 'other' }, { prefix: `${prefix}x` }]) {
      const limiter = limiterWith(policy)
      const { limit } = await limiter.peek('client')
      found.push([limit, (await limiter.peek('blocked')).allowed])
      limiter.close()
    }
    given.close()
    const apart = [LIMIT, true]
    expect(found).toEqual([...versions.map(() => [9, false]), apart, apart])
  })

  for (const name of ['fixed-window', 'sliding-window', 'sliding-log'] as const) {
    describe(`a top-up of ${name}`, () => {
      const limit = limitOf(name)

      testWith('adds units to the limit, and to an override', limit, async (own) => {
        await own.consume('client', 3)
        expect(await own.grant(4)).toBe('granted')
        expect(await own.remaining('client')).toEqual([LIMIT - 3 + 4])
        await own.override(20)
        expect(await own.remaining('client')).toEqual([20 - 3 + 4])
        expect(await own.grant(10)).toBe('granted')
        expect(await drain(own)).toBe(20 - 3 + 14)
        await own.override(undefined)
        expect(await own.remaining('client')).toEqual([0])
      })

      testWith('ends with the window', limit, async (own, { clock }) => {
        await own.grant(4)
        expect(await drain(own)).toBe(LIMIT + 4)
        clock.advance(2 * HOUR)
        expect(await drain(own)).toBe(LIMIT)
      })

      testWith('ends at its own time', limit, async (own, { clock }) => {
        await own.grant(4, { until: clock() + 300 })
        await own.grant(2, { until: clock() + 600 })
        clock.advance(299)
        expect(await own.remaining('client')).toEqual([LIMIT + 6])
        clock.advance(1)
        expect(await own.remaining('client')).toEqual([LIMIT + 2])
        clock.advance(300)
        expect(await own.remaining('client')).toEqual([LIMIT])
      })

      test('with an id is made once, by however many at the same time', async (bench) => {
        const stores = [bench, await bench.another()]
        const owns = stores.map(({ open }) => ownOf(open([limit]), limit)) as [Own, Own]
        // Stores in memory share nothing.
        await owns[0].consume('client')
        const shared = (await owns[1].remaining('client'))[0] === LIMIT - 1
        const [first, second] = shared ? owns : [owns[0], owns[0]]
        const until = bench.clock() + HOUR
        const results = await Promise.all(
          Array.from({ length: 10 }, (_, i) =>
            (i % 2 ? first : second).grant(4, { until, id: 'a' }),
          ),
        )
        expect(results.filter((result) => result === 'granted')).toHaveLength(1)
        expect(results.filter((result) => result === 'known')).toHaveLength(9)
        await first.reset('client')
        expect(await second.grant(4, { until, id: 'a' })).toBe('known')
        expect(await second.grant(4, { until, id: 'b' })).toBe('granted')
        expect(await first.remaining('client')).toEqual([LIMIT + 8])
      })

      testWith('has an end: so many, and so much', limit, async (own, { clock }) => {
        const until = clock() + HOUR
        for (let i = 0; i < 32; i += 1) {
          expect(await own.grant(1, { until, id: `${i + 10}` })).toBe('granted')
        }
        expect(await own.grant(1, { until, id: 'ff' })).toBe('too many')
        expect(await own.grant(1, { until, id: '41' })).toBe('known')
        const { maxLimit } = limit.algorithm
        expect(await own.remaining('client')).toEqual([LIMIT + 32])
        clock.advance(HOUR)
        expect(await own.grant(maxLimit, { until: clock() + 1 })).toBe('too much')
        expect(await own.grant(maxLimit - LIMIT, { until: clock() + 1 })).toBe('granted')
        expect(await own.grant(1, { until: clock() + 1 })).toBe('too much')
        expect(await own.grant(1, { until: clock() })).toBe('ended')
        // It is the client's own limit that grows, if it has one.
        clock.advance(1)
        await own.override(maxLimit - 1)
        expect(await own.grant(2, { until: clock() + 1 })).toBe('too much')
        expect(await own.grant(1, { until: clock() + 1 })).toBe('granted')
      })

      testWith(
        'those without an id are one, if they end together',
        limit,
        async (own, { clock }) => {
          const until = clock() + HOUR
          for (let i = 0; i < 40; i += 1) expect(await own.grant(1, { until })).toBe('granted')
          expect(await own.remaining('client')).toEqual([LIMIT + 40])
        },
      )
    })
  }

  const bucket = algorithms['token-bucket'].compile({ limit: 100, windowMs: HOUR, burst: 7 })
  const slow = algorithms['token-bucket'].compile({
    limit: 1,
    windowMs: 365 * 24 * HOUR,
    burst: 250_000,
  })
  testWith(
    'a client has one however long its count lives: beyond 2^52 ms',
    slow,
    async (own, bench) => {
      await own.consume('client', 200_000)
      const other = (await bench.another()).open([slow])
      // Stores in memory share nothing.
      const isShared = (await other.remaining('client'))[0] === 50_000
      const asked = isShared ? other : own
      await asked.consume('client')
      await own.override(0)
      expect((await asked.consume('client')).admitted).toBe(false)
      bench.clock.advance(HOUR)
      expect((await asked.consume('client')).admitted).toBe(false)
    },
  )

  testWith(
    'a bucket keeps its burst, and drains at its own rate',
    bucket,
    async (own, { clock }) => {
      await own.override(3600)
      expect(await drain(own)).toBe(7)
      clock.advance(2000)
      expect(await own.remaining('client')).toEqual([2])
    },
  )

  const large = algorithms['sliding-window'].compile({ limit: 1000, windowMs: 2_592_000_000 })
  testWith(
    'a limit may be too large to be counted by the millisecond',
    large,
    async (own, { clock }) => {
      await own.override(900_000_000_000)
      await own.consume('client', 400_000_000_000)
      expect(await own.remaining('client')).toEqual([500_000_000_000])
      await own.override(undefined)
      await own.grant(700_000_000_000, { until: clock() + HOUR })
      expect(await own.remaining('client')).toEqual([300_000_001_000])
    },
  )

  const month = new Policy('', { limit: 10_000, window: 'month' }).limitFor()
  testWith('a window of the calendar has both until it ends', month, async (own, { clock }) => {
    await own.consume('client', 9_900)
    await own.override(12_000)
    expect(await own.remaining('client')).toEqual([2_100])
    await own.grant(500, { id: 'a' })
    const { outcomes } = await own.peek('client')
    expect(outcomes[0]?.remaining).toBe(2_600)
    clock.advance((outcomes[0]?.resetMs as number) - 1)
    expect(await own.remaining('client')).toEqual([2_600])
    clock.advance(1)
    expect(await own.remaining('client')).toEqual([12_000])
  })

  const slots = concurrency.compile({ limit: 2, windowMs: HOUR })
  testWith('slots: as many as the client has of its own', slots, async (own, { clock }) => {
    const take = async (slot: number) => {
      const [charge] = own.charges('client', 1)
      return copy(await own.ledger.consume([{ ...charge!, claim: [slot] }])).admitted
    }
    expect([await take(1), await take(2), await take(3)]).toEqual([true, true, false])
    await own.override(3, clock() + 300)
    expect([await take(3), await take(4)]).toEqual([true, false])
    await own.ledger.settle([{ ...own.charges('client', -1)[0]!, claim: [1] }])
    expect([await take(5), await take(6)]).toEqual([true, false])
    await own.ledger.renew(
      [2, 3, 5].map((slot) => [{ ...own.charges('client', 1)[0]!, claim: [slot] }]),
    )
    clock.advance(300)
    expect([await own.remaining('client'), await take(6)]).toEqual([[0], false])
    for (const slot of [2, 3]) {
      await own.ledger.settle([{ ...own.charges('client', -1)[0]!, claim: [slot] }])
    }
    expect([await take(7), await take(8)]).toEqual([true, false])
    await own.override(0)
    expect(await take(9)).toBe(false)
  })

  test('several policies stay all or nothing', async ({ open }) => {
    const limits = [limitOf('fixed-window'), limitOf('token-bucket'), limitOf('sliding-log')]
    const { ledger, consume, remaining } = open(limits)
    const set = async (policy: number, limit: number) =>
      ledger.override(policy, 'client', limits[policy] as CompiledLimit, {
        limit,
        until: Infinity,
      })
    await set(0, 9)
    await set(2, 9)
    const refused = await consume('client', 7)
    expect(refused.outcomes.map(({ admitted }) => admitted)).toEqual([true, false, true])
    expect(await remaining('client')).toEqual([9, LIMIT, 9])
    await set(1, 8)
    expect((await consume('client', 7)).admitted).toBe(true)
    expect(await remaining('client')).toEqual([2, 1, 2])
  })

  for (const name of algorithmNames)
    test(`${name}: requests of one call say each the limit of its own client`, async ({ open }) => {
      const limit = limitOf(name)
      const { ledger } = open([limit])
      // Where keys are decided separately, a call has keys of one shard.
      const keys = ['{shard}a', '{shard}b', '{shard}c', '{shard}d']
      for (const [i, key] of keys.entries()) {
        const { burst, maxDelayMs } = limit.params
        const override = { limit: LIMIT + i, burst, maxDelayMs, until: Infinity }
        if (i !== 1) await ledger.override(0, key, limit, override)
      }
      // What it admits, and what it refuses.
      for (const cost of [1, 100]) {
        const results = await ledger.decide(keys.map((key) => [{ key, limit, cost }]))
        const units = results.map((each) => (each as StoreResult).outcomes[0]?.own?.units)
        expect(units).toEqual([LIMIT, undefined, LIMIT + 2, LIMIT + 3])
      }
    })

  test('requests of many clients at the same time have their own limits each', async ({ open }) => {
    const limit = limitOf('sliding-window')
    const { ledger, consume } = open([limit])
    const keys = ['a', 'b', 'c', 'd']
    for (const [i, key] of keys.entries()) {
      if (i % 2) await ledger.override(0, key, limit, { limit: 5 + i, until: Infinity })
    }
    const requests = Array.from({ length: 40 }, (_, i) => keys[i % 4] as string)
    const admitted = await Promise.all(requests.map(async (key) => (await consume(key)).admitted))
    const counts = keys.map(
      (key) => requests.filter((each, i) => each === key && admitted[i]).length,
    )
    expect(counts).toEqual([5, 6, 5, 8])
  })
}
