// Programs of an application on the packages. The tests run them on Node, and in a bundle where Node is
// not: the answers must be equal. Each scenario makes its limiters as the modules of an application
// do, before any request, and returns what the requests then do.

import { createLimiter, memoryStore, SluiceError } from '@sluice/core'
import { decisionOf, limitFetch, rateLimit } from '@sluice/hono'
import { Hono } from 'hono'

export const SECRET = 'a secret of more than sixteen characters'

const NOON = 1_795_176_000_000
const COMMON = { limit: 30, window: '1h', retryAfterJitter: 0, partitionSecret: SECRET } as const
const request = (path = '/', headers = {}) => new Request(`http://example.com${path}`, { headers })
const store = () => memoryStore({ clock: () => NOON })
const key = () => 'client'

type Send = (path?: string) => Promise<Response>

async function sixtyAtOnce(send: Send) {
  const responses = await Promise.all(Array.from({ length: 60 }, () => send()))
  const served = responses.filter(({ status }) => status === 200)
  const [refused] = responses.filter(({ status }) => status === 429)
  return { served: served.length, ...(await told(served.at(-1)!)), refused: await told(refused!) }
}

/** All that a client gets. */
async function told(response: Response) {
  const { status, headers } = response
  return { status, fields: Object.fromEntries(headers), body: await response.text() }
}

function hono() {
  const app = new Hono().use(rateLimit({ ...COMMON, store: store(), key }))
  app.get('/', (c) => c.json({ remaining: c.var.rateLimit?.remaining }))
  return () => sixtyAtOnce(async () => app.request('/'))
}

function fetch() {
  const GET = limitFetch(
    { ...COMMON, store: store(), address: (_, address: string) => address },
    (request) => Response.json({ remaining: decisionOf(request)?.remaining }),
  )
  return () => sixtyAtOnce(() => GET(request(), '2001:db8::1'))
}

/** Every profile, routes, an allowance by proxies, and the calendar. */
function profiles() {
  const profiles = ['draft-11', 'draft-7', 'draft-6', 'draft-3', 'legacy', 'openai', 'anthropic']
  const handlers = profiles.map((headers) =>
    limitFetch(
      {
        store: store(),
        headers: headers as 'draft-11',
        trustProxy: 1,
        policies: [
          { name: 'requests', limit: 2, window: 'day', timeZone: 'Europe/Berlin' },
          {
            name: 'tokens',
            limit: 900,
            window: '1m',
            unit: 'tokens',
            cost: 5,
            algorithm: 'token-bucket',
          },
        ],
        routes: { 'POST /login': { limit: 1, window: '15m' }, '/free': false },
        retryAfterJitter: 0,
      },
      () => new Response('served'),
    ),
  )
  const proxied = { 'X-Forwarded-For': '192.0.2.7' }
  return async () => {
    const fields: unknown[] = []
    for (const each of handlers)
      for (const path of ['/', '/', '/', '/free'])
        fields.push(await told(await each(request(path, proxied))))
    return fields
  }
}

/** Keys that a store keeps as digests. */
function longKeys() {
  const kept = store()
  const limiter = createLimiter({ store: kept, limit: 1, window: '1h' })
  return async () => {
    const long = `${'k'.repeat(300)}\u{1f600}`
    const keys = [long, `${long}!`, `${long}\ud800`, `${long}\udc00`, `#${'x'.repeat(43)}`]
    const allowed = [...keys, ...keys].map((each) => limiter.consume(each).allowed)
    const entries: string[] = []
    for await (const entry of kept.inspect()) entries.push(entry.key)
    return { allowed, entries }
  }
}

/** Uses more keys than a `Map` of the store holds. */
function manyKeys() {
  const kept = store()
  const limiter = createLimiter({ store: kept, limit: 1, window: '1h' })
  return () => {
    let admitted = 0
    for (let round = 0; round < 2; round += 1)
      for (let i = 0; i < 40_000; i += 1) if (limiter.consume(`client-${i}`).allowed) admitted += 1
    limiter.close()
    return { admitted, size: kept.size }
  }
}

function mistakes() {
  const limited = { limit: 1, window: '1m', key }
  const wrong: object[] = [
    { ...limited, limit: '100' },
    { ...limited, limit: -1 },
    { ...limited, limit: { max: 5 } },
    { ...limited, window: 'soon' },
    { ...limited, algorithm: "it's" },
    { ...limited, max: 5 },
    { ...limited, key: undefined },
    { ...limited, partitionSecret: 'short' },
    { ...limited, store: 'redis://localhost' },
    { ...limited, store: [1, 'two', null] },
    { ...limited, routes: { 'GTE /': { limit: 1, window: '1m' } } },
    { ...limited, trustProxy: true },
  ]
  const errors = wrong.map((options) => {
    try {
      limitFetch(options as never, () => new Response())
    } catch (error) {
      return error instanceof SluiceError ? [error.code, error.option, error.message] : error
    }
    return undefined
  })
  return () => errors
}

/** Slots, and costs that are known at the end of a stream. */
function streams() {
  const limiter = createLimiter({ store: store(), concurrent: 1 })
  const tokens = {
    limit: 100,
    window: '1h',
    cost: () => 35,
  } as const
  const GET = limitFetch(
    { ...tokens, store: store(), key, settle: () => 7, name: 'streams', keySecret: SECRET },
    () => new Response(new Blob(['streamed']).stream()),
  )
  return async () => {
    const [one, two] = [limiter.acquire('client'), limiter.acquire('client')]
    one.release()
    const slots = [one.allowed, two.allowed, limiter.acquire('client').allowed]
    limiter.close()
    const response = await GET(request())
    const before = GET.limiter.peek('key:client') as { remaining: number }
    const body = await response.text()
    let after = before
    for (let i = 0; i < 100 && after.remaining === before.remaining; i += 1) {
      await Promise.resolve()
      after = GET.limiter.peek('key:client') as { remaining: number }
    }
    return { slots, body, before: before.remaining, after: after.remaining }
  }
}

/** A request waits for its turn on the runtime's timers. */
function waiting() {
  const paced = { limit: 1, window: '20ms', algorithm: 'leaky-bucket', maxDelay: '1m' } as const
  const GET = limitFetch({ ...paced, key }, () => new Response('served'))
  return async () =>
    (await Promise.all([GET(request()), GET(request())])).map(({ status }) => status)
}

/** Warns once, of a key function that gives no key. */
function warned() {
  const GET = limitFetch(
    { ...COMMON, store: store(), key: () => '', address: () => '192.0.2.7' },
    () => new Response('served'),
  )
  return async () => (await GET(request())).status
}

export const scenarios = {
  hono,
  fetch,
  profiles,
  longKeys,
  manyKeys,
  mistakes,
  streams,
  waiting,
  warned,
}
