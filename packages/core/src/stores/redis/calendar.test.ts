// The server's clock chooses the window: processes whose clocks differ agree.

import { afterEach, expect, jest, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { patient } from '@sluice/test-harness/redis'
import { createLimiter, redisStore } from '../../index.ts'
import { manualClock } from '../../testing/index.ts'

const DAY = 86_400_000
/** A day of the month that is a week from today at least: no window begins while this runs. */
const ANCHOR = new Date().getUTCDate() < 16 ? 23 : 8

const redis = useRedis()
afterEach(() => {
  jest.restoreAllMocks()
})

/** A limiter of a process whose clock is so many days wrong. */
function limiterOf(days: number, prefix: string) {
  const now = Date.now() + days * DAY
  jest.spyOn(Date, 'now').mockReturnValue(now)
  return createLimiter({
    ...patient,
    store: redis.client,
    prefix,
    limit: 30,
    window: 'month',
    anchor: ANCHOR,
    onStoreError: 'deny',
  })
}

test.each([0, -31, -59, 31, 59])('a process whose clock is %i days wrong', async (days) => {
  const prefix = `days${days}`
  const right = limiterOf(0, prefix)
  await right.consume('ada')
  const before = await right.peek('ada')
  jest.restoreAllMocks()
  const wrong = limiterOf(days, prefix)
  const admitted = await Promise.all(Array.from({ length: 60 }, () => wrong.consume('ada')))
  expect(admitted.filter(({ allowed }) => allowed)).toHaveLength(29)
  const last = await wrong.consume('ada')
  expect(last).toMatchObject({ allowed: false, source: 'store' })
  expect(last.at + last.resetMs).toBe(before.at + before.resetMs)
})

test.each([-400, 400])(
  'one that is %i days wrong decides by itself, and changes nothing',
  async (days) => {
    const prefix = `days${days}`
    const right = limiterOf(0, prefix)
    const first = await right.consume('ada')
    jest.restoreAllMocks()
    const wrong = limiterOf(days, prefix)
    // Alone in its call, and with others.
    expect(await wrong.consume('ada')).toMatchObject({ allowed: false, source: 'deny' })
    const together = await Promise.all([wrong.consume('ada'), wrong.consume('ada')])
    expect(together.map(({ source }) => source)).toEqual(['deny', 'deny'])
    await expect(wrong.settle('ada', -1)).rejects.toThrow('did not confirm')
    jest.restoreAllMocks()
    expect(await right.peek('ada')).toMatchObject({ remaining: 29 })
    expect(first.remaining).toBe(29)
  },
)

test('a top-up without an end is for the window of the clock that was given', async () => {
  const clock = manualClock(Date.UTC(2011, 1, 3))
  const store = redisStore(redis.client, { clock })
  const limiter = createLimiter({ ...patient, store, prefix: 'given', limit: 5, window: 'month' })
  await limiter.grant('ada', 4)
  expect(await limiter.consume('ada')).toMatchObject({ limit: 9, source: 'store' })
  clock.set(Date.UTC(2011, 2, 1) - 1)
  expect(await limiter.consume('ada')).toMatchObject({ limit: 9, remaining: 7 })
  clock.advance(1)
  expect(await limiter.consume('ada')).toMatchObject({ limit: 5, remaining: 4 })
})

test.each([
  [3, 'month', []],
  [1, 'day', []],
  [4, 'day', ['SLUICE_CLOCK_SKEW: 96 h ahead of']],
  [-4, 'day', ['SLUICE_CLOCK_SKEW: 96 h behind']],
] as const)(
  'a clock that is %i days wrong with a window of a %s warns: %p',
  async (days, window, told) => {
    jest.resetModules()
    const { createLimiter: create } = await import('../../index.ts')
    const warnings: string[] = []
    jest.spyOn(process, 'emitWarning').mockImplementation(((text: string, { code }: never) => {
      warnings.push(`${code}: ${/\d+ h (ahead of|behind)/.exec(text)?.[0]}`)
    }) as typeof process.emitWarning)
    const now = Date.now() + days * DAY
    jest.spyOn(Date, 'now').mockReturnValue(now)
    const prefix = `told${days}${window}`
    const limiter = create({ ...patient, store: redis.client, prefix, limit: 30, window })
    for (let i = 0; i < 3; i += 1) {
      const { source } = await limiter.consume('ada')
      expect(source).toBe(told.length > 0 ? 'local' : 'store')
    }
    expect(warnings).toEqual(told)
    limiter.close()
  },
)
