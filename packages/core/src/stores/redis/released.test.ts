// The last release and this version on the keys of one server, as during a deployment: they decide
// together what each would decide alone. Before the first release, a build of the sources stands for it: two copies
// of this version, and the same one with other options.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { patient, until } from '@sluice/test-harness/redis'
import { ALGORITHM_NAMES } from '../../algorithms/index.ts'
import type { Limiter } from '../../index.ts'
import * as current from '../../index.ts'
import { manualClock } from '../../testing/index.ts'

type Version = Pick<typeof current, 'createLimiter' | 'redisStore'>
type Options = Parameters<typeof current.createLimiter>[0]

const freeze = resolve(__dirname, '../../../../../scripts/release/freeze.mjs')
const released = join(__dirname, 'testing/released')
const [release, last] = existsSync(released) ? versionIn(released) : presentVersion()

/** @param folder Made by scripts/release/freeze.mjs */
function versionIn(folder: string): [name: string, version: Version] {
  const [file] = readdirSync(folder) as [string]
  return [file, require(join(folder, file))]
}

function presentVersion(): [name: string, version: Version] {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-frozen-'))
  try {
    execFileSync(process.execPath, [freeze, folder])
    return ['a build of this version, since none is released,', versionIn(folder)[1]]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const HOUR = 3_600_000
const STEPS = 60
const KEYS = ['ada', '203.0.113.7', '{élan} '.repeat(20)]

const redis = useRedis()

const window = '1h'
const ban = { after: 3, within: '6h', for: ['1h', '2h'] } as const
/**
 * Limiters that use every script: of one to three policies, coarse ticks among them, and the one for the
 * rest.
 */
const limits: Record<string, Partial<Options>> = {
  'sliding window': { limit: 7, window },
  'fixed window': { limit: 7, window, algorithm: 'fixed-window' },
  'sliding log': { limit: 7, window, algorithm: 'sliding-log' },
  'token bucket': { limit: 7, window, algorithm: 'token-bucket', burst: 11 },
  'leaky bucket': { limit: 7, window, algorithm: 'leaky-bucket', maxDelay: '40m' },
  'coarse ticks': { limit: 9_007_199_254, window: '365d', algorithm: 'token-bucket', burst: 7 },
  calendar: { limit: 7, window: 'day', timeZone: 'Europe/Berlin' },
  bans: { limit: 7, window, ban },
  'three policies': {
    policies: [
      { name: 'burst', limit: 5, window: '10m', algorithm: 'token-bucket' },
      { name: 'hourly', limit: 9, window },
      { name: 'daily', limit: 40, window: '1d', algorithm: 'fixed-window' },
    ],
  },
  'four policies': {
    policies: [
      { name: 'a', limit: 5, window: '10m' },
      { name: 'b', limit: 9, window, algorithm: 'leaky-bucket', maxDelay: '1h' },
      { name: 'c', limit: 12, window: '2h', algorithm: 'sliding-log' },
      { name: 'd', limit: 40, window: '1d', algorithm: 'token-bucket' },
    ],
  },
}

/** Numbers from 0 to 1, the same in each run. */
function numbers(): () => number {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** @param versions take turns, by chance; with one, it does everything */
function limitersOf(versions: readonly Version[], options: Partial<Options>, prefix: string) {
  const clock = manualClock()
  const choose = numbers()
  const limiters = versions.map(({ createLimiter, redisStore }) =>
    createLimiter({
      ...patient,
      store: redisStore(redis.client, { clock }),
      prefix,
      ...options,
    } as Options),
  )
  const next = () => limiters[Math.floor(choose() * limiters.length)] as Limiter
  return { clock, next }
}

/** A limiter of each version, with options of its own, and their clock. */
function sidesOf(
  versions: readonly Version[],
  prefix: string,
  options: readonly Partial<Options>[],
) {
  const clock = manualClock()
  const [one, other] = versions.map(({ createLimiter, redisStore }, i) => {
    const store = redisStore(redis.client, { clock })
    return createLimiter({ ...patient, store, prefix, ...options[i] } as Options)
  })
  return [one as Limiter, other as Limiter, clock] as const
}

/** What each step of a fixed series gives. */
async function decide(versions: readonly Version[], options: Partial<Options>, prefix: string) {
  const { clock, next } = limitersOf(versions, options, prefix)
  const random = numbers()
  const given: unknown[] = []
  for (let step = 0; step < STEPS; step += 1) {
    clock.advance(Math.floor((random() ** 3 * HOUR) / 2))
    const key = KEYS[Math.floor(random() * KEYS.length)] as string
    const what = random()
    const cost = 1 + Math.floor(random() * 8)
    if (what < 0.7) given.push(await next().consume(key, { cost }))
    else if (what < 0.8) given.push(await next().peek(key))
    else if (what < 0.9) given.push(await next().settle(key, 1 - cost, { at: clock() - 1000 }))
    else given.push(await next().reset(key))
  }
  return given
}

describe(`${release} and the sources on the same keys`, () => {
  test.each(Object.keys(limits))('decide as one: %s', async (name) => {
    const options = limits[name] as Partial<Options>
    const prefix = name.replace(' ', '-')
    const alone = await decide([last], options, `last-${prefix}`)
    expect(alone.filter((given) => given !== undefined).length).toBeGreaterThan(STEPS / 2)
    expect(alone).toContainEqual(expect.objectContaining({ allowed: false, source: 'store' }))
    expect(await decide([current], options, `current-${prefix}`)).toEqual(alone)
    expect(await decide([last, current], options, `both-${prefix}`)).toEqual(alone)
  })

  test.each(ALGORITHM_NAMES)(
    'with limits of their own admit together what the larger one does: %s',
    async (algorithm) => {
      const own = algorithm === 'leaky-bucket' ? { maxDelay: window } : {}
      for (const limits of [
        [70, 90],
        [90, 70],
      ] as const) {
        const clock = manualClock()
        const sides = [last, current].map(({ createLimiter, redisStore }, i) => {
          const store = redisStore(redis.client, { clock })
          const prefix = `sides-${limits[0]}`
          return createLimiter({
            ...patient,
            ...own,
            store,
            prefix,
            limit: limits[i]!,
            window,
            algorithm,
          } as Options) as Limiter
        })
        let admitted = 0
        for (let i = 0; i < 130; i += 1) {
          if ((await sides[i % 2]!.consume('ada')).allowed) admitted += 1
        }
        // A leaky bucket has one more than what drains within maxDelay; taking turns with a bucket costs less than a unit.
        const most = algorithm === 'leaky-bucket' ? 91 : 90
        expect(admitted).toBeLessThanOrEqual(most)
        expect(admitted).toBeGreaterThanOrEqual(most - 1)
      }
    },
  )

  test('a key has as many reservations at once, whichever version had them before', async () => {
    const options = { limit: 1_000_000, window: '1d', reserve: true, hold: '1h' } as const
    const [old, now, clock] = sidesOf([last, current], 'crowd', [options, options])
    for (const limiter of [old, now, old, now]) {
      const acquired = Array.from({ length: 1001 }, () => limiter.acquire('ada'))
      const allowed = (await Promise.all(acquired)).filter((each) => each.allowed)
      expect(allowed.length).toBe(1000)
      clock.advance(HOUR)
    }
  })

  test('live: the last one has the limit of its code, and both count together', async () => {
    const options = { limit: 10, window: '1h', name: 'api' } as const
    const [old, live] = sidesOf([last, current], 'live', [options, { ...options, live: true }])
    const allowed = async (limiter: Limiter, times: number) => {
      const all = await Promise.all(Array.from({ length: times }, () => limiter.consume('ada')))
      return all.filter((each) => each.allowed).length
    }
    await live.policies.set('api', { limit: 20 })
    expect(await allowed(old, 12)).toBe(10)
    expect(await allowed(live, 12)).toBe(10)
    await live.policies.set('api', { limit: 5 })
    await live.reset('ada')
    expect(await allowed(live, 6)).toBe(5)
    expect(await allowed(old, 12)).toBe(5)
    await live.policies.set('api', { dryRun: true })
    expect(await allowed(live, 2)).toBe(2)
    expect(await allowed(old, 2)).toBe(0)
  })

  test('decide as one by the clock of the server', async () => {
    const options = { ...patient, limit: 10, window: 'month', timeZone: 'UTC' } as const
    const [old, now] = [last, current].map(({ createLimiter }) =>
      createLimiter({
        ...options,
        store: redis.client,
        prefix: 'server',
        algorithm: 'fixed-window',
      }),
    ) as [Limiter, Limiter]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? old : now).consume('ada')),
    )
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(10)
    expect(answers.every(({ source }) => source === 'store')).toBe(true)
  })

  const bothWays = [
    ['the one before', 'this one', [last, current]],
    ['this one', 'the one before', [current, last]],
  ] as const

  test.each(bothWays)('what operators do by %s holds in %s', async (_, __, versions) => {
    const prefix = `operators-${versions[0] === last}`
    const [one, other] = sidesOf(versions, prefix, [
      { limit: 10, window },
      { limit: 10, window },
    ])
    await one.override('ada', { limit: 2 })
    expect(await other.consume('ada')).toMatchObject({ limit: 2, remaining: 1 })
    await one.grant('bob', 5, { id: 'invoice' })
    expect(await other.grant('bob', 5, { id: 'invoice' })).toBe(false)
    expect(await other.consume('bob')).toMatchObject({ remaining: 14 })
    await one.block('cyd', '20m')
    expect(await other.peek('cyd')).toMatchObject({ allowed: false })
    await one.block('203.0.113.0/24', '20m', { network: true })
    const isBlocked = async () => !(await other.consume('203.0.113.9')).allowed
    await until(isBlocked, { what: 'the network is blocked there too' })
  })

  test.each(bothWays)('what is held by %s is held in %s, for so long', async (_, __, versions) => {
    const prefix = `held-${versions[0] === last}`
    const kinds = [{ concurrent: 2 }, { limit: 2, window: '1d', reserve: true }]
    for (const [i, kind] of kinds.entries()) {
      const holds = ['30s', '10s'].map((hold) => ({ ...kind, hold })) as Partial<Options>[]
      const [one, other, clock] = sidesOf(versions, `${prefix}-${i}`, holds)
      const allowed = async (limiter: Limiter) => (await limiter.acquire('ada')).allowed
      for (const expected of [true, true, false]) expect(await allowed(one)).toBe(expected)
      // Nobody renews it meanwhile: that takes real time.
      clock.advance(29_999)
      expect(await allowed(other)).toBe(false)
      clock.advance(1)
      for (const expected of [true, true, false]) expect(await allowed(other)).toBe(expected)
      clock.advance(10_000)
      expect(await allowed(one)).toBe(true)
    }
  })

  test('hold and free the slots of each other', async () => {
    const options = { concurrent: 3, hold: '1m' } as const
    const { next } = limitersOf([last, current], options, 'slots')
    const taken = await Promise.all(Array.from({ length: 5 }, () => next().acquire('ada')))
    expect(taken.map(({ allowed }) => allowed)).toEqual([true, true, true, false, false])
    await taken[0]?.release()
    expect((await next().acquire('ada')).allowed).toBe(true)
    expect((await next().acquire('ada')).allowed).toBe(false)
    await Promise.all(taken.map((each) => each.release()))
  })
})
