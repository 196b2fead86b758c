import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { RoutedLimiter } from '@sluice/http/adapter'
import { plain } from '../../../../http/src/testing/plain-server.ts'
import { createLimiter } from '../../limiter/create-limiter.ts'
import type { Limiter } from '../../limiter/limiter.ts'
import { held } from '../../testing/held.ts'
import { failingStore } from '../../testing/index.ts'
import type { RedisClient } from '../redis/client.ts'

/** With a prefix: limiters share quotas on purpose. */
const minute = { prefix: 'sluice', limit: 1, window: '1m', algorithm: 'sliding-log' } as const

/** A client whose server is down: no script runs, so this process decides. */
function downClient(): RedisClient {
  const fail = () => Promise.reject(new Error('down'))
  return { evalsha: fail, evalshaBuffer: fail, eval: fail, status: 'ready' } as RedisClient
}

const limitersOn = (clients: readonly RedisClient[]) =>
  clients.map((store) => createLimiter({ ...minute, store }))

async function use(limiters: readonly Limiter[]): Promise<void> {
  const decisions = await Promise.all(limiters.map((limiter) => limiter.consume('client')))
  expect(decisions.filter(({ source }) => source === 'local')).toHaveLength(limiters.length)
}

/** A store that keeps nothing, and refuses everything. */
function refusingStore() {
  const waits = { resetMs: 60_000, retryAfterMs: 60_000, effectiveMs: 60_000, delayMs: 0 }
  const outcome = { admitted: false, remaining: 0, ...waits }
  const result = { admitted: false, at: 0, source: 'store', outcomes: [outcome] } as const
  const consume = jest.fn(async () => [result])
  // On a clock that stands still, however long it takes to measure memory.
  const clock = () => 0
  const store = {
    mode: 'async',
    clock,
    open: () => ({ decide: consume, change: consume }) as never,
    close() {},
  } as const
  return { store, consume }
}

describe('the memory of remembered refusals', () => {
  it.each<[string, (i: number) => string]>([
    ['keys of 100 kB', (i) => `${i}`.padEnd(100_000, 'x')],
    // For example a header that contains the key.
    ['parts of 100 kB', (i) => `${i}`.padEnd(100_000, 'x').slice(0, 50)],
  ])('is little for 300 %s', async (_, keyOf) => {
    const { store, consume } = refusingStore()
    const limiter = createLimiter({ ...minute, store })
    const taken = await held(async () => {
      for (let i = 0; i < 300; i += 1) await limiter.consume(keyOf(i))
      consume.mockClear()
      return limiter
    })
    expect(taken).toBeLessThan(1)
    for (let i = 0; i < 300; i += 1) await limiter.consume(keyOf(i))
    expect(consume).not.toHaveBeenCalled()
  })
})

describe('limiters on remote stores', () => {
  afterEach(() => {
    jest.useRealTimers()
  })

  it('that were used and closed hold nothing: 500 of them take no 68 MB', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const taken = await held(async () => {
      const clients = Array.from({ length: 500 }, downClient)
      const limiters = limitersOn(clients)
      await use(limiters)
      for (const limiter of limiters) limiter.close()
      return clients
    })
    warn.mockRestore()
    expect(taken).toBeLessThan(8)
  })

  it('hold no timers as long as they are not used, nor once they are closed', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] })
    const limiters = limitersOn([downClient(), downClient()])
    expect(jest.getTimerCount()).toBe(0)
    jest.runAllTimers()
    await use(limiters)
    for (const limiter of limiters) limiter.close()
    await jest.advanceTimersByTimeAsync(100)
    await new Promise((resolve) => setImmediate(resolve))
    expect(jest.getTimerCount()).toBe(0)
  })

  it('forget the counts with the last one on a store, and still decide', async () => {
    const client = downClient()
    const [first, second] = limitersOn([client, client]) as [Limiter, Limiter]
    await use([first])
    first.close()
    first.close()
    expect((await second.consume('client')).allowed).toBe(false)
    second.close()
    expect(await second.consume('client')).toMatchObject({ allowed: true, source: 'local' })
  })

  it('remember nothing of a store on which they have all been closed', async () => {
    const store = failingStore()
    const limiter = createLimiter({ ...minute, store })
    await limiter.consume('client')
    await limiter.consume('client')
    limiter.close()
    expect(await limiter.consume('client')).toMatchObject({ allowed: false, source: 'store' })
    store.close()
  })

  it('are all closed with the limiter of a middleware, those of its routes too', async () => {
    const store = failingStore()
    const routes = { '/login': { limit: 5 }, '/search': { limit: 9 } }
    const { base, limiter } = new RoutedLimiter({ ...minute, store, routes }, plain)
    const consume = () => base.limiter.consume('client')
    await consume()
    await consume()
    expect((await consume()).source).toBe('cache')
    limiter.close()
    expect((await consume()).source).toBe('store')
    store.close()
  })
})
