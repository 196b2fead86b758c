// The adapter of docs/adapters.md, unchanged.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { memoryStore } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import type { RateLimitOptions } from '../options/options.generated.ts'
import type { FetchReply } from './fetch-reply.ts'

type Options = Partial<RateLimitOptions<Request, FetchReply>> & { routes?: object }
type Application = (request: Request) => Response | Promise<Response>
type Served = (request: Request, client: { address: string }) => Promise<Response>

const markdown = readFileSync(join(__dirname, '../../../../docs/adapters.md'), 'utf8')
const source = (/^```ts\n(.*?)^```$/ms.exec(markdown) as RegExpExecArray)[1] as string
const folder = mkdtempSync(join(__dirname, '../../.blocks-'))
const file = join(folder, 'documented.ts')
writeFileSync(file, source)
afterAll(() => rmSync(folder, { recursive: true }))
const { rateLimit } = require(file) as {
  rateLimit(options: object, application: Application): Served
}

const address = '192.0.2.1'
const LIMITED = { limit: 2, window: '1m', algorithm: 'fixed-window' } as const

let store: ReturnType<typeof memoryStore>
beforeEach(() => {
  store = memoryStore({ clock: manualClock() })
})

function serve(options: Options, application: Application = () => new Response('served')) {
  const served = rateLimit({ ...LIMITED, store, ...options }, application)
  return (init: RequestInit = {}, path = '/') =>
    served(new Request(`http://example.com${path}`, init), { address })
}

/** Units charged, as the next request's fields say. */
async function used(options: Options): Promise<number> {
  const { headers } = await serve({ ...options, cost: 0, settle: undefined } as Options)()
  return (options.limit as number) - Number(headers.get('RateLimit-Remaining'))
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 1000; i += 1) {
    if (await condition()) return
    await new Promise(setImmediate)
  }
  throw new Error('it never became so')
}

test('it is short', () => {
  const lines = source.split('\n').filter((line) => line !== '' && !line.startsWith('import'))
  expect(lines.length).toBeLessThan(30)
})

test('responses carry the fields in addition to those of the application', async () => {
  const send = serve({}, () => Response.json({ served: true }, { status: 201 }))
  const response = await send()
  expect(response.status).toBe(201)
  expect(response.headers.get('RateLimit-Policy')).toBe('"default";q=2;w=60')
  expect(response.headers.get('RateLimit')).toMatch(/^"default";r=1;t=\d+$/)
  expect(response.headers.get('Content-Type')).toBe('application/json')
  expect(await response.json()).toEqual({ served: true })
})

test('a request beyond the limit is refused, with a body of problem+json', async () => {
  let served = 0
  const send = serve({}, () => {
    served += 1
    return new Response(null, { status: 204 })
  })
  for (let i = 0; i < 2; i += 1) expect((await send()).status).toBe(204)
  const refused = await send()
  expect([refused.status, served]).toEqual([429, 2])
  expect(refused.headers.get('Content-Type')).toBe('application/problem+json')
  expect(refused.headers.get('Cache-Control')).toBe('no-store')
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({ status: 429, 'violated-policies': ['default'] })
})

test('a redirect does not carry an exhausted quota', async () => {
  const send = serve({ limit: 1 }, () => Response.redirect('http://example.com/elsewhere', 302))
  const { headers } = await send()
  expect(headers.has('RateLimit')).toBe(false)
  expect(headers.get('RateLimit-Policy')).toBe('"default";q=1;w=60')
})

test('two limiters on one request write fields that list both', async () => {
  const inner = rateLimit(
    { ...LIMITED, store, limit: 1, prefix: 'inner' },
    () => new Response('ok'),
  )
  const send = serve({}, (request) => inner(request, { address }))
  expect((await send()).headers.get('RateLimit-Policy')).toBe(
    '"default";q=2;w=60, "default-2";q=1;w=60',
  )
  const refused = await send()
  expect(await refused.json()).toMatchObject({ 'violated-policies': ['default-2'] })
  expect(refused.headers.get('RateLimit')).toMatch(/^"default-2";r=0;t=\d+$/)
})

test('a response that cannot be copied is passed on', async () => {
  const error = Response.error()
  expect(await serve({}, () => error)()).toBe(error)
})

test("respond gives the response, which has the refusal's status", async () => {
  const send = serve({ limit: 0, respond: () => Response.json({ slow: 'down' }, {}) })
  const refused = await send()
  expect([refused.status, await refused.json()]).toEqual([429, { slow: 'down' }])
  expect(refused.headers.get('RateLimit-Policy')).toBe('"default";q=0;w=60')
})

test("respond: 'throw' and what the application throws reject", async () => {
  await expect(serve({ limit: 0, respond: 'throw' })()).rejects.toMatchObject({ status: 429 })
  const failing = serve({ prefix: 'other' }, () => {
    throw new Error('of the application')
  })
  await expect(failing()).rejects.toThrow('of the application')
})

test('routes have their own limits', async () => {
  const send = serve({ routes: { 'POST /login': { limit: 1, window: '1m' }, '/free': false } })
  const login = () => send({ method: 'POST' }, '/login')
  expect([(await login()).status, (await login()).status]).toEqual([200, 429])
  expect((await send({}, '/free')).headers.has('RateLimit')).toBe(false)
})

describe('settling', () => {
  const OPTIONS = { limit: 100, cost: 10 } as const

  function streaming(signal?: AbortSignal) {
    const state = { cost: 3, cancelled: false }
    const parts: ReadableStreamDefaultController<Uint8Array>[] = []
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void parts.push(controller),
      cancel: () => {
        state.cancelled = true
      },
    })
    const send = serve({ ...OPTIONS, settle: () => state.cost }, () => new Response(body))
    const response = send(signal === undefined ? {} : { signal })
    return { state, response, part: parts[0] as ReadableStreamDefaultController<Uint8Array> }
  }

  test('at the end of a streamed body, not before', async () => {
    const { response, part } = streaming()
    const reader = ((await response).body as ReadableStream<Uint8Array>).getReader()
    part.enqueue(new Uint8Array([7]))
    expect((await reader.read()).value).toEqual(new Uint8Array([7]))
    expect(await used(OPTIONS)).toBe(10)
    part.close()
    expect((await reader.read()).done).toBe(true)
    await until(async () => (await used(OPTIONS)) === 3)
  })

  test('the server cancels the body of a client that has gone: the application may still work', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    const { response, state } = streaming()
    state.cost = 25
    await ((await response).body as ReadableStream).cancel()
    expect(state.cancelled).toBe(true)
    await until(async () => (await used(OPTIONS)) === 25)
    state.cost = 40
    await jest.advanceTimersByTimeAsync(100)
    expect(await used(OPTIONS)).toBe(40)
    state.cost = 2
    await jest.advanceTimersByTimeAsync(29_800)
    expect(await used(OPTIONS)).toBe(40)
    await jest.advanceTimersByTimeAsync(100)
    // What was charged when it became known stays, the estimate comes back.
    expect(await used(OPTIONS)).toBe(30)
    expect(jest.getTimerCount()).toBe(0)
    jest.useRealTimers()
  })

  test('the client leaves during the body: what it has cost so far is charged', async () => {
    const leaving = new AbortController()
    const { response, state, part } = streaming(leaving.signal)
    const { body } = await response
    state.cost = 15
    leaving.abort()
    await until(async () => (await used(OPTIONS)) === 15)
    part.close()
    await new Response(body).text()
  })

  test('an application that fails has ended its response, and is no longer watched', async () => {
    const costs: number[] = []
    const settle = (_: Request, { status }: FetchReply) => {
      costs.push(status)
      return 2
    }
    const send = serve({ ...OPTIONS, settle }, async () => {
      throw new Error('of the application')
    })
    await expect(send()).rejects.toThrow('of the application')
    await until(async () => (await used(OPTIONS)) === 2)
    expect(costs).toEqual([500])
  })

  test.each(['GET', 'HEAD'])('a response of which nothing is read: %s', async (method) => {
    const body = method === 'HEAD' ? 'never read' : null
    await serve({ ...OPTIONS, settle: () => 4 }, () => new Response(body))({ method })
    await until(async () => (await used(OPTIONS)) === 4)
  })
})

test('a request whose client leaves before its turn does not reach the application', async () => {
  let served = 0
  const send = serve(
    { limit: 1, window: '1h', algorithm: 'leaky-bucket', maxDelay: '2h', maxWaiting: 1 },
    () => {
      served += 1
      return new Response('served')
    },
  )
  await send()
  const leaving = new AbortController()
  const waiting = send({ signal: leaving.signal })
  expect((await send()).status).toBe(429)
  leaving.abort()
  expect((await waiting).status).toBe(499)
  expect(served).toBe(1)
})
