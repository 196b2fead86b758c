import { once } from 'node:events'
import { request as start } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { until } from '@sluice/test-harness/redis'
import fastify, { type FastifyInstance } from 'fastify'
import { memoryStore, type RateLimitOptions, rateLimit } from './index.ts'
import { listen, portOf, statuses } from './testing.ts'

/** A request that the client can leave. */
function leaving(app: FastifyInstance) {
  const sent = start({ host: '127.0.0.1', port: portOf(app), agent: false }).end()
  sent.on('error', () => {})
  return sent
}

describe('the leaky bucket', () => {
  const EVERY_MS = 150
  const QUEUE = { limit: 1, window: EVERY_MS, algorithm: 'leaky-bucket', maxDelay: '1d' } as const

  /** An application that notes who was decided, and who was served and when. */
  async function queue(options: Partial<RateLimitOptions> = {}) {
    const decided: number[] = []
    const served: number[] = []
    const gone: Promise<unknown>[] = []
    const app = fastify()
    app.addHook('onRequest', async (_, reply) => void gone.push(once(reply.raw, 'close')))
    // Its clock stands still: however slowly requests come, each waits for those before it.
    const store = memoryStore({ clock: manualClock() })
    app.addHook('onClose', async () => store.close())
    await app.register(rateLimit, {
      ...QUEUE,
      store,
      onDecision: ({ delayMs }) => void decided.push(delayMs),
      ...options,
    } as RateLimitOptions)
    app.get('/', async () => {
      served.push(performance.now())
      return 'served'
    })
    return { app, ask: await listen(app), decided, served, gone }
  }

  test('an admitted request continues after its delay', async () => {
    const { ask, served } = await queue()
    const began = performance.now()
    const replies = await Promise.all([ask('GET /'), ask('GET /'), ask('GET /')])
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(served.map((at, i) => at - began >= i * EVERY_MS - 2)).toEqual([true, true, true])
  })

  test('a client that goes away while waiting: no handler runs, its slot is free', async () => {
    const { app, ask, decided, served, gone } = await queue({ maxWaiting: 1 })
    await ask('GET /')
    const left = leaving(app)
    await until(() => decided.length === 2, { what: 'the second waits' })
    left.destroy()
    await gone[1]
    expect((await ask('GET /')).status).toBe(200)
    expect([decided.length, served.length]).toEqual([3, 2])
  })

  test('closing waits for delayed requests, but not for clients that have left', async () => {
    const { app, ask, decided, gone, served } = await queue({
      cost: ({ url }) => (url === '/?much' ? 10_000 : 1),
    })
    await ask('GET /')
    const waiting = ask('GET /?much')
    await until(() => decided.length === 2, { what: 'the second waits' })
    const left = leaving(app)
    await until(() => decided.length === 3, { what: 'the third waits' })
    left.destroy()
    await gone[2]
    const closed = app.close()
    expect((await waiting).status).toBe(200)
    // Else it would take until the turn of the third.
    expect(decided[2]).toBe(10_001 * EVERY_MS)
    await closed
    expect(served.length).toBe(2)
  })
})

describe('settle', () => {
  async function settling(handler: (gone: Promise<unknown>) => Promise<string>) {
    const settled: [string | undefined, number][] = []
    const app = fastify()
    await app.register(rateLimit, {
      limit: 100,
      window: '1d',
      cost: 60,
      async settle(request, reply) {
        settled.push([request.routeOptions.url, reply.statusCode])
        return 15
      },
    })
    app.get('/', async (_, reply) => handler(once(reply.raw, 'close')))
    const remaining = async () => (await app.rateLimit.peek('127.0.0.1')).remaining
    return { app, ask: await listen(app), settled, remaining }
  }

  test('is asked once when the reply has ended', async () => {
    const { ask, settled, remaining } = await settling(async () => 'served')
    expect((await ask('GET /')).remaining).toBe(40)
    await until(async () => (await remaining()) === 85, { what: '45 units are given back' })
    expect(settled).toEqual([['/', 200]])
  })

  test('the client goes away: the estimate remains until the handler ends', async () => {
    let goOn = () => {}
    let gone: Promise<unknown> | undefined
    const { app, settled, remaining } = await settling(async (closed) => {
      gone = closed
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
      return 'too late'
    })
    const left = leaving(app)
    await until(() => gone !== undefined, { what: 'the handler runs' })
    left.destroy()
    await gone
    await until(() => settled.length === 1, { what: 'settle is asked' })
    expect(await remaining()).toBe(40)
    goOn()
    await until(async () => (await remaining()) === 85, { what: '45 units are given back' })
  })
})

describe('app.close()', () => {
  test('closes the store that the plugin has made', async () => {
    const app = fastify()
    await app.register(rateLimit, { limit: 5, window: '1d' })
    await statuses(app, 'GET /')
    expect(await app.rateLimit.peek('127.0.0.1')).toMatchObject({ remaining: 4 })
    await app.close()
    expect(await app.rateLimit.peek('127.0.0.1')).toMatchObject({ remaining: 5 })
  })

  test('leaves a given store open', async () => {
    const store = memoryStore()
    const app = fastify()
    await app.register(rateLimit, { limit: 5, window: '1d', store })
    await statuses(app, 'GET /')
    await app.close()
    expect(await app.rateLimit.peek('127.0.0.1')).toMatchObject({ remaining: 4 })
    store.close()
  })
})
