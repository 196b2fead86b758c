import { createLimiter, type Documents, type LimiterOptions } from '@sluice/core'
import { expect } from 'expect'
import { type Bench, LIMIT, type StoreTests } from './store-kit.ts'

/** A version as long as versions are, and a text that begins with it. */
const versionOf = (letter: string) => letter.repeat(16)
const textOf = (letter: string, length = 100) =>
  versionOf(letter) + '\n203.0.113.0/24 9'.padEnd(length)

export function documents({ describe, test }: StoreTests): void {
  describe('a document', () => {
    test('is empty at first, and kept as it is', async ({ store, prefix, clock }) => {
      const documents = store.documents as Documents
      const { text = '' } = await documents.read(prefix, 'any', '')
      expect(text).toBe('')
      const largest = textOf('a', 600_000 - 16)
      expect(await documents.replace(prefix, 'any', '', largest, 60_000)).toBe(true)
      for (const known of ['', versionOf('b')]) {
        const { text, at } = await documents.read(prefix, 'any', known)
        // To print how texts of this length differ takes minutes.
        expect([text === largest, at]).toEqual([true, clock()])
      }
      expect([undefined, largest]).toContain(
        (await documents.read(prefix, 'any', versionOf('a'))).text,
      )
      const { text: other = '' } = await documents.read(`${prefix}-other`, 'any', '')
      expect(other).toBe('')
      const { text: another = '' } = await documents.read(prefix, 'other', '')
      expect(another).toBe('')
    })

    test('is replaced only by who knows it', async ({ store, prefix }) => {
      const documents = store.documents as Documents
      expect(await documents.replace(prefix, 'any', versionOf('x'), textOf('a'), 60_000)).toBe(
        false,
      )
      expect(await documents.replace(prefix, 'any', '', textOf('a'), 60_000)).toBe(true)
      expect(await documents.replace(prefix, 'any', '', textOf('b'), 60_000)).toBe(false)
      expect(await documents.replace(prefix, 'any', versionOf('a'), textOf('b'), 60_000)).toBe(true)
      expect((await documents.read(prefix, 'any', versionOf('a'))).text).toBe(textOf('b'))
      expect(await documents.replace(prefix, 'any', versionOf('b'), '', 0)).toBe(true)
      const { text = '' } = await documents.read(prefix, 'any', versionOf('b'))
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
