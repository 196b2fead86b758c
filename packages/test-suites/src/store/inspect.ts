import {
  createLimiter,
  type InspectOptions,
  type LimiterOptions,
  SluiceError,
  type Store,
  type StoreEntry,
} from '@sluice/core'
import { Policy } from '@sluice/core/store'
import { withVerbs } from '@sluice/core/testing'
import { expect } from 'expect'
import { algorithmNames, LIMIT, type StoreTests } from './store-kit.ts'

/** Keys that a store may have to keep as digests, and some that it need not. */
const keys = ['203.0.113.7', 'user:[42]*?', '#', '{a}', 'a\nb', 'é', '\ud83d', 'x'.repeat(100_000)]

/** A limit so large that a leaky bucket takes two requests at once. */
const HIGH_LIMIT = 5000

/** One policy for each way in which a state can count. */
const policies: Record<string, Partial<LimiterOptions>> = {
  ...Object.fromEntries(
    algorithmNames.map((algorithm) => [algorithm, { algorithm, limit: HIGH_LIMIT }]),
  ),
  'a burst of its own': { algorithm: 'token-bucket', burst: 7 },
  'a longer queue': { algorithm: 'leaky-bucket', maxDelay: '1h' },
  'a window of the calendar': { window: 'month', timeZone: 'Europe/Berlin', anchor: 31 },
  'as much as can be counted': { window: 'month', limit: Number.MAX_SAFE_INTEGER },
  'as large as can be': { algorithm: 'token-bucket', limit: 1_000_000_000_000 },
} as Record<string, Partial<LimiterOptions>>

let prefixes = 0

/** A prefix that no other begins with, nor with a digit more: the test of namespaces appends one. */
function newPrefix(): string {
  prefixes += 1
  return `inspect-${prefixes}-${process.pid}`
}

function limiterOf(store: Store, options: object, prefix = newPrefix()) {
  const base = { store, limit: LIMIT, window: '1h', prefix, deadline: '10s' }
  const limiter = createLimiter({ ...base, ...options } as LimiterOptions)
  return { limiter, prefix }
}

async function entriesOf(store: Store, options: InspectOptions): Promise<StoreEntry[]> {
  const entries = []
  for await (const entry of store.inspect!(options)) entries.push(entry)
  return entries
}

export function inspects({ describe, test }: StoreTests): void {
  describe('a key stands as peek shows it', () => {
    for (const [name, options] of Object.entries(policies))
      test(name, async ({ store, clock }) => {
        const { limiter, prefix } = limiterOf(store, options)
        await limiter.consume('some', { cost: 1 })
        await limiter.consume('more', { cost: 2 })
        const listed = await entriesOf(store, { prefix })
        expect(listed.map(({ key }) => key).sort()).toEqual(['more', 'some'])
        clock.advance(1001)
        const entries = await entriesOf(store, { prefix })
        for (const { key } of listed) {
          // The store may have forgotten a key whose quota is full again.
          const isWhole = (await limiter.peek(key)).resetMs === 0
          expect(isWhole || entries.some((entry) => entry.key === key)).toBe(true)
        }
        for (const entry of entries) {
          const { remaining, resetMs, limit, at } = await limiter.peek(entry.key)
          const unused = await limiter.peek('never seen')
          expect(entry).toMatchObject({ remaining, resetMs, limit, at, prefix, policy: 'default' })
          expect(entry.used).toBe(unused.remaining - remaining)
          expect([entry.blockedMs, entry.bannedMs, entry.isDigest]).toEqual([0, 0, false])
        }
        limiter.close()
      })
  })

  for (const algorithm of algorithmNames)
    test(`a debt is shown: ${algorithm}`, async ({ store }) => {
      const { limiter, prefix } = limiterOf(store, { algorithm, limit: 10, maxDelay: undefined })
      const { remaining: full } = await limiter.peek('ada')
      await limiter.settle('ada', 25)
      const [entry] = await entriesOf(store, { prefix })
      expect(entry).toMatchObject({ used: 25, remaining: 0 })
      const { policies, remaining } = await limiter.peek('ada')
      expect([policies[0]?.excess, remaining]).toEqual([25 - full, 0])
      limiter.close()
    })

  test('a key is blocked, whatever counts it', async ({ store, clock }) => {
    for (const options of Object.values(policies)) {
      const { limiter, prefix } = limiterOf(store, options)
      await limiter.block('client', '1m')
      clock.advance(1000)
      const [entry] = await entriesOf(store, { prefix })
      expect(entry).toMatchObject({ blockedMs: 59_000, resetMs: 59_000, remaining: 0 })
      clock.advance(59_000)
      const [over] = await entriesOf(store, { prefix })
      // The store may have forgotten it.
      if (over !== undefined) expect(over).toMatchObject({ blockedMs: 0, used: 0, resetMs: 0 })
      limiter.close()
    }
  })

  test('a client with a limit of its own comes once, whether it has counted or not', async ({
    store,
    clock,
  }) => {
    const { limiter, prefix } = limiterOf(store, {})
    await limiter.consume('counted')
    const until = clock() + 60_000
    await limiter.override('counted', { limit: 9 })
    await limiter.override('idle', { limit: 8, until })
    await limiter.grant('idle', 2, { until: until - 1 })
    const found = async (key?: string) => {
      const entries = await entriesOf(store, { prefix, key })
      return entries.map(({ key, used, override }) => [key, used, override]).sort()
    }
    const counted = ['counted', 1, { limit: 9, until: undefined }]
    const idle = ['idle', 0, { limit: 8, until }]
    expect(await found()).toEqual([counted, idle])
    expect([await found('counted'), await found('idle')]).toEqual([[counted], [idle]])
    limiter.close()
  })

  test('slots in progress are counted', async ({ store }) => {
    const terms = { limit: undefined, window: undefined, concurrent: 3, hold: '1m' }
    const { limiter, prefix } = limiterOf(store, terms)
    const [held] = await Promise.all([limiter.acquire('client'), limiter.acquire('client')])
    expect(await entriesOf(store, { prefix })).toMatchObject([{ limit: 3, used: 2, remaining: 1 }])
    await held?.release()
    expect(await entriesOf(store, { prefix })).toMatchObject([{ limit: 3, used: 1, remaining: 2 }])
    await limiter.block('client', '1h')
    const [blocked] = await entriesOf(store, { prefix })
    expect(blocked).toMatchObject({ blockedMs: 3_600_000, used: undefined })
    limiter.close()
  })

  test('refusals count towards a ban, and a ban shows when it ends', async ({ store, clock }) => {
    const ban = { after: 2, within: '1h', for: ['10m'] }
    const { limiter, prefix } = limiterOf(store, { limit: 1, ban, refusalCache: false })
    const banOf = async () => (await entriesOf(store, { prefix })).find(isOfBan)
    await limiter.consume('client')
    await limiter.consume('client')
    expect(await banOf()).toMatchObject({ limit: 2, used: 1, remaining: 1, bannedMs: 0 })
    await limiter.consume('client')
    clock.advance(60_000)
    expect(await banOf()).toMatchObject({ limit: 2, bannedMs: 540_000, policy: 'default' })
    limiter.close()
  })

  test('what is in use shows also where the limit depends on the request', async ({ store }) => {
    const prefix = newPrefix()
    const used = []
    for (const algorithm of algorithmNames) {
      const policy = new Policy('', {
        limit: () => 0,
        window: '1h',
        algorithm,
        name: algorithm,
      } as never)
      const limit = policy.limitFor(HIGH_LIMIT)
      const keyspace = { name: policy.keyspace(limit).name, algorithm: limit.algorithm }
      const ledger = withVerbs(store.open([keyspace], prefix))
      await ledger.consume([{ key: 'client', limit, cost: 2 }])
      const [entry] = await entriesOf(store, { prefix, policy: algorithm })
      expect(entry).toMatchObject({ limit: undefined, remaining: undefined })
      used.push(entry?.used)
    }
    // How fast a bucket drains depends on the limit.
    expect(used.filter((each) => each === undefined)).toHaveLength(2)
    expect(used.filter((each) => each === 2)).toHaveLength(3)
  })

  test('keys of any characters and length are found by the original', async ({ store }) => {
    const { limiter, prefix } = limiterOf(store, {})
    for (const key of keys) await limiter.consume(key)
    const listed = await entriesOf(store, { prefix })
    expect(listed).toHaveLength(keys.length)
    for (const { key, isDigest } of listed) {
      expect(keys.includes(key)).toBe(!isDigest)
      expect(key.length).toBeLessThan(300)
    }
    for (const key of keys) {
      const found = await entriesOf(store, { prefix, key })
      expect(found).toMatchObject([{ key, isDigest: false, used: 1 }])
    }
    for (const key of ['user:[42]*', 'user:?42]*?', '203.0.113.*', 'nobody'])
      expect(await entriesOf(store, { prefix, key })).toEqual([])
    limiter.close()
  })

  test('a client is found in every shard that it is in', async ({ store }) => {
    const { limiter, prefix } = limiterOf(store, {})
    const found = async (key: string) =>
      (await entriesOf(store, { prefix, key })).map((entry) => entry.key).sort()
    await limiter.consume('ada')
    // Those which only look alike are other clients.
    for (const key of ['{acme}ada', '{eve}ada', '{acme}bob', '{ada}bob', 'my{eve}ada', '{a}{b}ada'])
      await limiter.consume(key)
    await limiter.block('{blocked}ada', '1h')
    expect(await found('ada')).toEqual(['ada', '{acme}ada', '{blocked}ada', '{eve}ada'])
    expect(await found('{acme}ada')).toEqual(['{acme}ada'])
    limiter.close()
  })

  test('an entry has the limit of the version that was deployed last', async ({ store }) => {
    const { limiter, prefix } = limiterOf(store, {})
    await limiter.consume('client', { cost: 2 })
    limiter.close()
    const { limiter: after } = limiterOf(store, { limit: LIMIT + 3 }, prefix)
    await after.consume('client')
    const entries = await entriesOf(store, { prefix })
    expect(entries).toMatchObject([{ limit: LIMIT + 3, remaining: LIMIT, used: 3 }])
    after.close()
  })

  test('an entry opens the ledger that has it', async ({ store }) => {
    const { limiter, prefix } = limiterOf(store, {})
    await limiter.consume('client')
    const [entry] = await entriesOf(store, { prefix, key: 'client' })
    await withVerbs(store.open([entry!.keyspace], entry!.prefix)).reset('client')
    expect((await limiter.peek('client')).remaining).toBe(LIMIT)
    limiter.close()
  })

  test('lists policies of one name, and a namespace with its further limiters and routes, but no other', async ({
    store,
  }) => {
    const named = [
      { name: 'burst', limit: 5, window: '1s' },
      { name: 'day', limit: 9, window: '1d' },
    ]
    const options = { limit: undefined, window: undefined, policies: named }
    const { limiter, prefix } = limiterOf(store, options)
    await limiter.consume('client')
    for (const scope of ['.01234567', '.2', '.13.01234567', '2', '.0', '.other', ':x', '.2.3']) {
      const route = createLimiter({
        store,
        policies: named,
        prefix: prefix + scope,
        deadline: '10s',
      } as LimiterOptions)
      await route.consume(`client of ${scope}`)
      route.close()
    }
    const where = (await entriesOf(store, { prefix })).map(
      (entry) => `${entry.prefix} ${entry.policy}`,
    )
    expect(where.sort()).toEqual(
      [
        `${prefix} burst`,
        `${prefix} day`,
        `${prefix}.01234567 burst`,
        `${prefix}.01234567 day`,
        `${prefix}.13.01234567 burst`,
        `${prefix}.13.01234567 day`,
        `${prefix}.2 burst`,
        `${prefix}.2 day`,
      ].sort(),
    )
    const days = await entriesOf(store, { prefix, policy: 'day' })
    expect(days.map(({ policy, limit }) => [policy, limit])).toEqual(Array(4).fill(['day', 9]))
    expect(await entriesOf(store, { prefix, policy: 'da' })).toEqual([])
    limiter.close()
  })

  test('one key of each keyspace is enough to know them', async ({ store }) => {
    const { limiter, prefix } = limiterOf(store, { name: 'first' })
    const other = createLimiter({
      store,
      limit: 9,
      window: '1d',
      name: 'other',
      prefix,
      deadline: '10s',
    } as LimiterOptions)
    await Promise.all(Array.from({ length: 1200 }, (_, i) => limiter.consume(`client-${i}`)))
    await other.consume('client')
    const entries = await entriesOf(store, { prefix, onePerKeyspace: true })
    // Those of one step may all come.
    expect(entries.length).toBeLessThan(1100)
    expect(new Set(entries.map(({ keyspace }) => keyspace.name)).size).toBe(2)
    limiter.close()
    other.close()
  })

  test('refuses options that are wrong', async ({ store }) => {
    for (const options of [{ prefix: '*' }, { key: '' }, { policy: 1 }, { limit: 5 }])
      expect(() => store.inspect!(options as never)).toThrow(SluiceError)
  })
}

function isOfBan({ limit }: StoreEntry): boolean {
  return limit === 2
}
