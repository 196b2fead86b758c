// What goes over the wire: how many calls, of which kind, and what heals by itself.

import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals'
import { patient, type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { createLimiter, redisStore, type Store } from '../../index.ts'
import { majors } from './testing/clients.ts'
import { expectAllToExpire, expiries } from './testing/ttl.ts'
import { unguarded } from './testing/unguarded.ts'

const policies = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ name: `p${i}`, limit: 100, window: '1h' as const }))

describe('a server', () => {
  let redis: RedisServer
  let client: Redis
  /** Which networks are blocked is read apart, every two seconds. */
  let store: Store<'async'>
  beforeAll(async () => {
    redis = await startRedis()
    client = new Redis(redis.url)
    store = { ...redisStore(client), documents: undefined }
  })
  beforeEach(() => redis.command('FLUSHALL'))
  afterAll(async () => {
    const left = await expiries(redis)
    client.disconnect()
    await redis.stop()
    expectAllToExpire(left)
  })

  /** How often the server was sent each command, its scripts' own calls left out. */
  async function sentDuring(act: () => Promise<unknown>): Promise<Record<string, number>> {
    await redis.command('CONFIG', 'RESETSTAT')
    await act()
    const stats = await redis.commandStats()
    const names = [
      'eval',
      'evalsha',
      'script',
      'script|load',
      'script|exists',
      'time',
      'multi',
      'watch',
    ]
    const sent = names.filter((each) => stats[each] && each !== 'time')
    return Object.fromEntries(sent.map((each) => [each, stats[each]!.calls]))
  }

  /** A limiter notes in the background, by scripts of its own, where it counts: once for each prefix. */
  async function untilKept(prefix: string): Promise<void> {
    const isKept = async () => (await redis.command('EXISTS', `${prefix}:{#}:keyspaces`)) === 1
    await until(isKept, { what: 'the keyspaces are kept' })
  }

  test.each([1, 3, 10])('decides %i policies in one EVALSHA', async (count) => {
    const prefix = `alone-${count}`
    const limiter = createLimiter({
      ...patient,
      prefix,
      store,
      policies: policies(count),
    })
    const acts: (() => Promise<unknown>)[] = [
      () => limiter.consume('client'),
      () => limiter.peek('client'),
      () => limiter.settle('client', -1),
      () => limiter.block('client', 1000),
      () => limiter.consume('client'),
      () => limiter.reset('client'),
    ]
    for (const act of acts) await act()
    await untilKept(prefix)
    for (const [i, act] of acts.entries()) {
      // A block and a reset also ask whether other versions of the application have counted the client.
      const isOfOperator = i === 3 || i === 5
      expect(await sentDuring(act)).toEqual({ evalsha: isOfOperator ? 2 : 1 })
    }
  })

  test('sends nothing but EVALSHA for a decision', async () => {
    const prefix = 'bare'
    const limiter = createLimiter({ ...patient, store, limit: 1, window: '1h', prefix })
    await limiter.consume('warm')
    await untilKept(prefix)
    const lines: string[] = []
    const monitor = await client.monitor()
    monitor.on('monitor', (_time, [command], source) => {
      if (source !== 'lua') lines.push(String(command).toLowerCase())
    })
    await limiter.consume('client')
    await client.echo('end')
    await new Promise<void>((resolve) => {
      const check = () => (lines.includes('echo') ? resolve() : setImmediate(check))
      check()
    })
    monitor.disconnect()
    expect(lines).toEqual(['evalsha', 'echo'])
  })

  test('decides the requests of one turn, of different clients, in one EVALSHA', async () => {
    const prefix = 'turn'
    const limiter = createLimiter({ ...patient, prefix, store, policies: policies(3) })
    const turn = () =>
      Promise.all(Array.from({ length: 50 }, (_, i) => limiter.consume(`client ${i % 7}`)))
    await turn()
    await untilKept(prefix)
    await redis.command('FLUSHALL')
    expect(await sentDuring(turn)).toEqual({ evalsha: 1 })
    const decision = await limiter.peek('client 0')
    expect(decision.policies.map(({ remaining }) => remaining)).toEqual([92, 92, 92])
  })

  test.each([
    ['policies', { policies: policies(30) }, 60, 12],
    ['long-logs', { algorithm: 'sliding-log', limit: 10_000, window: '1h' }, 5, 5],
  ])('keeps each call short: many %s make several', async (prefix, options, requests, calls) => {
    const limiter = createLimiter({ ...patient, store, prefix, ...options } as never)
    const turn = () =>
      Promise.all(Array.from({ length: requests }, (_, i) => limiter.consume(`client ${i}`)))
    await turn()
    await untilKept(prefix)
    expect(await sentDuring(turn)).toEqual({ evalsha: calls })
  })

  test('splits very many requests of one turn, and each gets its own answer', async () => {
    const limiter = createLimiter({
      ...patient,
      store,
      limit: 5,
      window: '1h',
      prefix: 'many',
    })
    await limiter.peek('warm')
    const keys = Array.from({ length: 1000 }, (_, i) => `client ${i % 100}`)
    let decisions: { allowed: boolean; remaining: number }[] = []
    const sent = await sentDuring(async () => {
      decisions = await Promise.all(keys.map((key) => limiter.consume(key)))
    })
    expect(sent.evalsha).toBeGreaterThan(1)
    expect(sent.evalsha).toBeLessThan(20)
    decisions.forEach(({ allowed, remaining }, i) => {
      const round = Math.floor(i / 100)
      expect([allowed, remaining]).toEqual([round < 5, Math.max(0, 4 - round)])
    })
  })

  test('sends the whole script only if the server does not have it, and counts once', async () => {
    const prefix = 'scripts'
    const limiter = createLimiter({ ...patient, store, policies: policies(2), prefix })
    await limiter.consume('warm')
    await untilKept(prefix)
    await redis.command('SCRIPT', 'FLUSH')
    expect(await sentDuring(() => limiter.consume('client'))).toEqual({ evalsha: 1, eval: 1 })
    expect(await sentDuring(() => limiter.consume('client'))).toEqual({ evalsha: 1 })
    await redis.command('SCRIPT', 'FLUSH')
    expect(await sentDuring(() => limiter.consume('client'))).toEqual({ evalsha: 1, eval: 1 })
    expect(await sentDuring(() => limiter.consume('client'))).toEqual({ evalsha: 1 })
    expect((await limiter.peek('client')).remaining).toBe(96)
  })

  test('a script cache flushed again and again under load loses and doubles nothing', async () => {
    const limiter = createLimiter({
      ...patient,
      store,
      limit: 100_000,
      window: '1d',
      prefix: 'flushed',
    })
    let done = 0
    const load = Array.from({ length: 20 }, async () => {
      for (let i = 0; i < 100; i++) {
        await limiter.consume('client')
        done += 1
      }
    })
    const flush = (async () => {
      while (done < 2000) await redis.command('SCRIPT', 'FLUSH')
    })()
    const sent = await sentDuring(() => Promise.all([...load, flush]))
    expect(sent.eval).toBeGreaterThan(1)
    expect((await limiter.peek('client')).remaining).toBe(98_000)
  })

  test('an error other than NOSCRIPT is not tried again: it might count twice', async () => {
    const limiter = createLimiter({
      store: unguarded(client),
      limit: 5,
      window: '1h',
      prefix: 'wrong',
    })
    await limiter.consume('client')
    const [key] = (await redis.command('KEYS', 'wrong:{client}:*')) as string[]
    await redis.command('DEL', key!)
    await redis.command('RPUSH', key!, 'value')
    const sent = await sentDuring(() =>
      expect(limiter.consume('client')).rejects.toThrow(/WRONGTYPE/),
    )
    expect(sent).toEqual({ evalsha: 1 })
    await redis.command('DEL', key!)
    expect((await limiter.consume('client')).remaining).toBe(4)
  })

  test('goes by the clock of the server, not by its own', async () => {
    const limiter = createLimiter({
      ...patient,
      store,
      limit: 1,
      window: '1h',
      algorithm: 'sliding-log',
      prefix: 'clock',
    })
    const serverNow = async () => Number(((await redis.command('TIME')) as string[])[0]) * 1000
    const from = await serverNow()
    for (const wrong of [0, Date.now() + 86_400_000, Date.now() - 86_400_000]) {
      const clock = jest.spyOn(Date, 'now').mockReturnValue(wrong)
      const performanceClock = jest.spyOn(performance, 'now').mockReturnValue(wrong)
      const decisions = [await limiter.consume('client'), await limiter.consume('client')]
      clock.mockRestore()
      performanceClock.mockRestore()
      expect(decisions.map(({ allowed }) => allowed)).toEqual([wrong === 0, false])
      for (const { at } of decisions) {
        expect(at).toBeGreaterThanOrEqual(from)
        expect(at).toBeLessThan((await serverNow()) + 1000)
      }
    }
  })

  test('a store given a clock goes by that one', async () => {
    let now = 1_000_000
    const limiter = createLimiter({
      ...patient,
      store: redisStore(client, { clock: () => now }),
      limit: 1,
      window: 1000,
      algorithm: 'sliding-log',
    })
    expect(await limiter.consume('client')).toMatchObject({ allowed: true, at: 1_000_000 })
    now += 999
    expect(await limiter.consume('client')).toMatchObject({ allowed: false, retryAfterMs: 1 })
    now += 1
    expect(await limiter.consume('client')).toMatchObject({ allowed: true, at: 1_001_000 })
  })
})

describe.each(majors)('a client of %s', (_, connect) => {
  // ioredis would hold the test process for 2 s after a server that has closed first.
  const options = { retryStrategy: () => 20, disconnectTimeout: 0 }
  let redis: RedisServer
  beforeEach(async () => {
    redis = await startRedis()
    await redis.kill()
  })
  afterEach(() => redis.stop())

  test('whose server comes up only later: the first call waits, and all is well', async () => {
    // However long the server takes: by default a call fails after 20 tries.
    const client = connect(redis.url, { ...options, maxRetriesPerRequest: null })
    client.on('error', () => {})
    const limiter = createLimiter({ ...patient, store: client, limit: 5, window: '1h' })
    const first = limiter.consume('client')
    await redis.restart()
    expect((await first).remaining).toBe(4)
    expect((await limiter.consume('client')).remaining).toBe(3)
    client.disconnect()
  })

  test('that fails while the server is down: its error comes through, nothing stays broken', async () => {
    const client = connect(redis.url, { ...options, maxRetriesPerRequest: 0 })
    client.on('error', () => {})
    const limiter = createLimiter({ store: unguarded(client), limit: 5, window: '1h' })
    const remaining = async () =>
      (await limiter.consume('client').catch(() => undefined))?.remaining
    for (let run = 0; run < 2; run++) {
      await expect(limiter.consume('client')).rejects.toThrow(/retries/)
      await redis.restart()
      const what = 'the limiter decides again'
      expect(await until(remaining, { everyMs: 20, what })).toBe(4)
      await redis.kill()
    }
    client.disconnect()
  })
})
