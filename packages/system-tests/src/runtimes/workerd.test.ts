// Cloudflare's own runtime: the programs of the pages, with Redis over HTTP and with durable objects.

import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/core'
import { useRedis } from '@sluice/test-harness/jest'
import { type RestBridge, startRest, until } from '@sluice/test-harness/redis'
import { startWorkerd, type Workerd, type WorkerdOptions } from '@sluice/test-harness/workerd'
import { programOf } from '../places/page.ts'

const folder = join(__dirname, '../places')
const redis = useRedis()
let rest: RestBridge
let worker: Workerd
beforeAll(async () => {
  rest = await startRest(redis.server.url)
})
afterEach(async () => {
  rest.instead = undefined
  await worker.stop()
})
afterAll(() => rest.close())

/** Starts a worker that reaches Redis over HTTP. */
async function start(source: string, options: Partial<WorkerdOptions> = {}): Promise<void> {
  const vars = { UPSTASH_REDIS_REST_URL: rest.url, UPSTASH_REDIS_REST_TOKEN: rest.token }
  await redis.server.command('FLUSHALL')
  worker = await startWorkerd({ source, folder, vars, ...options })
}

interface Sent {
  readonly address?: string
  readonly isolate?: number
  readonly path?: string
  readonly signal?: AbortSignal
}

async function send({ address = '192.0.2.1', isolate = 0, path = '/', signal }: Sent = {}) {
  const headers = { 'CF-Connecting-IP': address, 'x-real-ip': address }
  const response = await fetch(worker.urls[isolate] + path, {
    headers,
    ...(signal && { signal }),
  })
  return { status: response.status, fields: response.headers, text: await response.text() }
}

async function statuses(count: number, sent: Sent = {}): Promise<Record<number, number>> {
  const replies = await Promise.all(
    Array.from({ length: count }, (_, i) => send({ isolate: i % worker.urls.length, ...sent })),
  )
  const counts: Record<number, number> = {}
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** What the runtime says of a request that waits for another one. */
const CROSSED = /hung|different request/

/** What is right on a machine that is busy too. */
const PATIENT = { "deadline: '500ms'": "deadline: '30s'" }

/** The program of a page, with changes. No window ends during a test. */
function pageWith(page: string, changes: Changes = {}): string {
  let source = programOf(page).replace("window: '1m'", "window: '1d'")
  for (const [from, to] of Object.entries(changes)) {
    expect(source).toContain(from)
    source = source.replace(from, to)
  }
  return source
}

type Changes = Readonly<Record<string, string>>

function pageOfCloudflare(changes: Changes = {}): string {
  return pageWith('cloudflare', { 'limit: 60': 'limit: 30', ...changes })
}

/** The function is what the module exports: workerd wants an object that has it. */
function pageOfVercel(changes: Changes = {}): string {
  const named = { 'export default': 'const limited =', 'limit: 60': 'limit: 30' }
  return `${pageWith('vercel-edge', { ...named, ...changes })}\nexport default { fetch: limited }`
}

describe.each([
  ['cloudflare', pageOfCloudflare],
  ['vercel-edge', pageOfVercel],
])('the page %s', (_, source) => {
  test('exactly 30 of 60 are admitted, of two isolates', async () => {
    await start(source(PATIENT), { isolates: 2 })
    expect(await statuses(60)).toEqual({ 200: 30, 429: 30 })
    expect(await statuses(30, { isolate: 0 })).toEqual({ 429: 30 })
    const { fields } = await send({ address: '192.0.2.2' })
    expect(fields.get('RateLimit')).toMatch(/^"default";r=29;/)
    expect(worker.log()).not.toMatch(CROSSED)
  })

  test('a server that hangs delays nobody beyond the deadline; it recovers by itself', async () => {
    await start(source())
    expect(await statuses(10)).toEqual({ 200: 10 })
    rest.instead = () => {}
    // Clients that leave, with whom the runtime drops the calls and timers of their requests.
    const left = new AbortController()
    const gone = Array.from({ length: 20 }, () => send({ signal: left.signal }).catch(() => 'left'))
    const before = rest.requests.length
    await until(() => rest.requests.length > before, { what: 'their calls are on the way' })
    left.abort()
    expect(new Set(await Promise.all(gone))).toEqual(new Set(['left']))
    const { 200: admitted = 0, ...others } = await statuses(60)
    expect(others).toEqual({ 429: 60 - admitted })
    await until(() => worker.log().includes('SLUICE_STORE_DOWN'), { what: 'the store is given up' })
    rest.instead = undefined
    const recovered = async () => {
      await send({ address: '192.0.2.3' })
      return worker.log().includes('SLUICE_STORE_UP')
    }
    await until(recovered, { what: 'it recovers' })
    expect(worker.log()).not.toMatch(CROSSED)
  })
})

test('in memory each isolate admits the whole limit', async () => {
  const source = pageOfCloudflare({ 'store: redis,': '' })
  await start(source, { isolates: 2 })
  expect(await statuses(120)).toEqual({ 200: 60, 429: 60 })
})

test('ten thousand requests of one turn share calls', async () => {
  await start(`
    import { createLimiter } from '@sluice/core'
    import { Redis } from '@upstash/redis/cloudflare'
    import { env } from 'cloudflare:workers'
    const store = Redis.fromEnv(env, { retry: { retries: 0 } })
    const limiter = createLimiter({ store, limit: 3000, window: '1h', deadline: '30s' })
    export default {
      async fetch() {
        const all = await Promise.all(Array.from({ length: 10_000 }, () => limiter.consume('client')))
        return Response.json([all.filter(({ allowed }) => allowed).length, [...new Set(all.map(({ source }) => source))]])
      },
    }`)
  rest.requests.length = 0
  expect(JSON.parse((await send()).text)).toEqual([3000, ['store']])
  expect(rest.requests.length).toBeLessThan(100)
})

test('a slot is held while the bytes of its response are read, and no longer than hold after its client has left', async () => {
  await start(`
    import { limitFetch } from '@sluice/hono'
    import { Redis } from '@upstash/redis/cloudflare'
    import { env } from 'cloudflare:workers'
    const store = Redis.fromEnv(env, { retry: { retries: 0 } })
    const options = { store, concurrent: 1, hold: '1s', deadline: '5s', key: () => 'client' }
    const limited = limitFetch(options, ({ url }) => new Response(url.endsWith('/short') ? 'short' : slow()))
    function slow() {
      const pull = async (controller) => {
        await new Promise((resolve) => setTimeout(resolve, 200))
        controller.enqueue(new Uint8Array([1]))
      }
      return new ReadableStream({ pull }, { highWaterMark: 0 })
    }
    export default { fetch: (request) => limited(request) }`)
  const leaving = new AbortController()
  const response = await fetch(worker.urls[0] as string, { signal: leaving.signal })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const end = performance.now() + 3000
  while (performance.now() < end) {
    await reader.read()
    expect((await send({ path: '/short' })).status).toBe(429)
  }
  leaving.abort()
  const isFree = async () => (await send({ path: '/short' })).status === 200
  await until(isFree, { what: 'the slot is free', everyMs: 50 })
  expect(worker.log()).not.toMatch(CROSSED)
})

describe.each(['a text', 'a stream'])('when %s has ended', (body) => {
  const paths = ['limitFetch', 'hono'].map((by) => [by, `/${by}/${body.slice(2)}`] as const)

  test.each(paths)('its cost is settled, and its slot is given back: %s', async (by, path) => {
    await start(`
      import { limitFetch, rateLimit } from '@sluice/hono'
      import { Redis } from '@upstash/redis/cloudflare'
      import { env } from 'cloudflare:workers'
      import { Hono } from 'hono'
      const store = Redis.fromEnv(env, { retry: { retries: 0 } })
      const options = { store, deadline: '30s', key: () => 'client' }
      const settled = { ...options, limit: 1000, window: '1d', cost: 5, settle: () => 1 }
      const slots = { ...options, concurrent: 1, hold: '10m' }
      const respond = ({ url }) => new Response(url.endsWith('stream') ? slow() : 'text')
      const settling = limitFetch(settled, respond)
      const limited = limitFetch(slots, settling)
      const app = new Hono()
      app.use(rateLimit(slots))
      app.use(rateLimit({ ...settled, name: 'settled' }))
      app.get('*', (c) => respond(c.req.raw))
      function slow() {
        let count = 0
        const pull = async (controller) => {
          await new Promise((resolve) => setTimeout(resolve, 20))
          count += 1
          if (count > 3) controller.close()
          else controller.enqueue(new Uint8Array([1]))
        }
        return new ReadableStream({ pull }, { highWaterMark: 0 })
      }
      export default { fetch: (request, ...others) => request.url.includes('hono') ? app.fetch(request, ...others) : limited(request, ...others) }`)
    for (let i = 0; i < 5; i += 1) {
      // The last one's slot is free soon.
      await until(async () => (await send({ path })).status === 200, { what: 'the slot is free' })
    }
    const name = by === 'hono' ? 'settled' : 'default'
    const limiter = createLimiter({ store: redis.client, name, limit: 1000, window: '1d' })
    const cost = async () => 1000 - (await limiter.peek('key:client')).remaining
    await until(async () => (await cost()) === 5, { what: 'all are settled' })
    limiter.close()
    expect(worker.log()).not.toMatch(CROSSED)
  })
})

describe('the page durable-objects', () => {
  const objects = { LIMITER: 'ClientLimiter' }

  test('exactly 60 of 120 are admitted, and those that come after an eviction are counted too', async () => {
    await start(pageWith('durable-objects'), { objects })
    expect(await statuses(50)).toEqual({ 200: 50 })
    await worker.restart()
    expect(await statuses(70)).toEqual({ 200: 10, 429: 60 })
    const { fields, text } = await send()
    expect([text, Number(fields.get('Retry-After')) > 0]).toEqual(['Too many requests', true])
    expect(await statuses(60, { address: '192.0.2.2' })).toEqual({ 200: 60 })
  })

  test('whatever a client sends as its address, its object is one for each subnet or for all', async () => {
    await start(pageWith('durable-objects'), { objects })
    const subnet = Array.from({ length: 61 }, (_, i) => send({ address: `2001:db8::${i + 1}` }))
    const refused = (await Promise.all(subnet)).filter(({ status }) => status === 429)
    expect(refused).toHaveLength(1)
    const made = Array.from({ length: 61 }, (_, i) => send({ address: `${'x'.repeat(2000)}${i}` }))
    expect((await Promise.all(made)).filter(({ status }) => status === 429)).toHaveLength(1)
  })

  test('its storage is freed when everything in it has expired', async () => {
    const source = pageWith('durable-objects', {
      'alarm() {': `async freed() {
        await this.consume()
        const { kv } = this.ctx.storage
        const before = [...kv.list()].length
        const dueIn = (await this.ctx.storage.getAlarm()) - Date.now()
        await this.alarm()
        return [before, dueIn > 600_000, [...kv.list()].length, (await this.consume()).remaining]
      }
      alarm() {`,
      'const client =': `const freed = await env.LIMITER.getByName('direct').freed()
        if (request.url.endsWith('/freed')) return Response.json(freed)
        const client =`,
    })
    await start(source, { objects })
    expect(JSON.parse((await send({ path: '/freed' })).text)).toEqual([1, true, 0, 59])
  })

  test('an object that fails does not take the application down', async () => {
    const source = pageWith('durable-objects', {
      'async consume() {': "async consume() {\n    throw new Error('broken')",
    })
    await start(source, { objects })
    expect(await statuses(3)).toEqual({ 200: 3 })
  })
})
