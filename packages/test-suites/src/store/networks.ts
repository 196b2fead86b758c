import { createLimiter, type LimiterOptions, type NetworkTexts } from '@sluice/core'
import { expect } from 'expect'
import { type Bench, LIMIT, type StoreTests } from './store-kit.ts'

/** A version as long as versions are, and a text that begins with it. */
const versionOf = (letter: string) => letter.repeat(16)
const textOf = (letter: string, length = 100) =>
  versionOf(letter) + '\n203.0.113.0/24 9'.padEnd(length)

export function networks({ describe, test }: StoreTests): void {
  describe('the text of a prefix', () => {
    test('is empty at first, and kept as it is', async ({ store, prefix, clock }) => {
      const texts = store.networks as NetworkTexts
      const { text = '' } = await texts.read(prefix, '')
      expect(text).toBe('')
      const largest = textOf('a', 600_000)
      expect(await texts.replace(prefix, '', largest, 60_000)).toBe(true)
      expect(await texts.read(prefix, '')).toEqual({ text: largest, at: clock() })
      expect(await texts.read(prefix, versionOf('b'))).toEqual({ text: largest, at: clock() })
      expect([undefined, largest]).toContain((await texts.read(prefix, versionOf('a'))).text)
      const { text: other = '' } = await texts.read(`${prefix}-other`, '')
      expect(other).toBe('')
    })

    test('is replaced only by who knows it', async ({ store, prefix }) => {
      const texts = store.networks as NetworkTexts
      expect(await texts.replace(prefix, versionOf('x'), textOf('a'), 60_000)).toBe(false)
      expect(await texts.replace(prefix, '', textOf('a'), 60_000)).toBe(true)
      expect(await texts.replace(prefix, '', textOf('b'), 60_000)).toBe(false)
      expect(await texts.replace(prefix, versionOf('a'), textOf('b'), 60_000)).toBe(true)
      expect((await texts.read(prefix, versionOf('a'))).text).toBe(textOf('b'))
      expect(await texts.replace(prefix, versionOf('b'), '', 0)).toBe(true)
      const { text = '' } = await texts.read(prefix, versionOf('b'))
      expect(text).toBe('')
    })
  })

  const limiterOn = ({ store, prefix }: Bench) =>
    createLimiter({ store, prefix, limit: LIMIT, window: '1h', deadline: '10s' } as LimiterOptions)

  test('a network is blocked for exactly so long, and its quotas stay as they are', async (bench) => {
    const limiter = limiterOn(bench)
    await limiter.consume('203.0.113.7')
    await limiter.block('203.0.113.0/24', 300, { network: true })
    bench.clock.advance(1)
    const { allowed, remaining, retryAfterMs, at } = await limiter.consume('203.0.113.7')
    expect([allowed, remaining, retryAfterMs, at]).toEqual([false, 0, 299, bench.clock()])
    expect((await limiter.consume('203.0.114.7')).allowed).toBe(true)
    bench.clock.advance(298)
    expect((await limiter.peek('203.0.113.7')).retryAfterMs).toBe(1)
    bench.clock.advance(1)
    expect(await limiter.consume('203.0.113.7')).toMatchObject({
      allowed: true,
      remaining: LIMIT - 2,
    })
    limiter.close()
  })

  test('simultaneous blocks are all kept, and end one by one', async (bench) => {
    const limiter = limiterOn(bench)
    const hosts = Array.from({ length: 20 }, (_, i) => `203.0.${i}`)
    await Promise.all(hosts.map((each) => limiter.block(`${each}.0/24`, '1h', { network: true })))
    for (const each of hosts) {
      expect((await limiter.consume(`${each}.1`)).allowed).toBe(false)
      await limiter.reset(`${each}.0/24`, { network: true })
      expect((await limiter.consume(`${each}.1`)).allowed).toBe(true)
    }
    limiter.close()
  })
}
