// The programs of the pages of frameworks in docs/places, each served by its framework in a process
// without Jest, which cannot load packages that are ESM alone.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { createTRPCClient, httpBatchLink, type TRPCClientError } from '@trpc/client'
import type { AnyTRPCRouter } from '@trpc/server'
import { patientProgramOf } from './page.ts'

const PAGES = [
  'apollo',
  'better-auth',
  'functions',
  'graphql-yoga',
  'nextjs',
  'nitro',
  'nuxt',
  'react-router',
  'sveltekit',
  'trpc',
]

let redis: RedisServer
let server: ChildProcess
let exited: Promise<unknown>
let folder: string
let urls: Record<string, string>

beforeAll(async () => {
  redis = await startRedis()
  // In the package, so that the programs find what it depends on.
  folder = mkdtempSync(join(__dirname, '../../.blocks-'))
  for (const page of PAGES) {
    const program = patientProgramOf(page).replace("'nitro/h3'", "'h3-2'")
    writeFileSync(join(folder, `${page}.mts`), program)
  }
  const args = ['--import', 'tsx', join(__dirname, 'serve-frameworks.mts'), folder]
  server = spawn(process.execPath, args, {
    env: {
      ...process.env,
      REDIS_URL: redis.url,
      BETTER_AUTH_SECRET: 'only for these tests, and long enough',
      NODE_ENV: 'production',
      NODE_NO_WARNINGS: '1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  exited = once(server, 'exit')
  const [line] = await once(createInterface(server.stdout as NodeJS.ReadableStream), 'line')
  urls = JSON.parse(line)
})

afterAll(async () => {
  server.kill()
  await exited
  rmSync(folder, { recursive: true })
  await redis.stop()
})

/** How many requests have reached the application of a page. */
async function served(page: string): Promise<number> {
  const counts = (await (await fetch(urls.counts as string)).json()) as Record<string, number>
  return counts[page] ?? 0
}

function send(page: string, path = '', init: RequestInit = {}): Promise<Response> {
  return fetch(`${urls[page]}${path}`, init)
}

function withAddress(...forwarded: string[]): RequestInit {
  return { headers: { 'X-Forwarded-For': forwarded.join(', ') } }
}

/** Sends until one is refused, or so many have been admitted. */
async function admitted(most: number, next: () => Promise<Response>): Promise<number> {
  for (let count = 0; count < most; count += 1) {
    const { status } = await next()
    if (status === 429) return count
  }
  return most
}

describe.each(['nextjs', 'sveltekit', 'nuxt', 'nitro', 'react-router'])('%s', (page) => {
  test('admits 60 requests, and refuses others with the fields of Sluice', async () => {
    expect(await admitted(70, () => send(page))).toBe(60)
    const before = await served(page)
    const refused = await send(page)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(refused.headers.get('RateLimit')).toMatch(/^"default";r=0;t=\d+$/)
    expect(await served(page)).toBe(before)
  })
})

/** What a client that has no quota left sends to be taken for another one. */
const SPOOFED = ['203.0.113.9', '203.0.113.9, 203.0.113.10', '10.0.0.1, 127.0.0.1']

describe('a client behind a proxy that appends its address gets no other by writing the field', () => {
  test.each([
    ['nextjs', '', {}],
    ['react-router', '', {}],
    ['nuxt', '', {}],
    ['nitro', '', {}],
    ['better-auth', '/api/auth/sign-in/email', { method: 'POST' }],
  ])('%s', async (page, path, init) => {
    const client = '192.0.2.1'
    const from = (...addresses: string[]) =>
      send(page, path, { ...init, ...withAddress(...addresses) })
    await admitted(70, () => from(client))
    for (const spoofed of SPOOFED) expect((await from(spoofed, client)).status).toBe(429)
    expect((await from('192.0.2.2')).status).not.toBe(429)
  })
})

test('without a proxy, SvelteKit and a Lambda know the connection', async () => {
  for (const page of ['sveltekit', 'functions']) {
    await admitted(70, () => send(page))
    expect((await send(page, '', withAddress('203.0.113.9'))).status).toBe(429)
  }
})

describe('sveltekit', () => {
  test('a refused form action is an ActionResult of the type error', async () => {
    await admitted(70, () => send('sveltekit'))
    const headers = { 'x-sveltekit-action': 'true' }
    const refused = await send('sveltekit', '/login?/default', { method: 'POST', headers })
    expect(refused.status).toBe(429)
    expect(await refused.json()).toEqual({
      type: 'error',
      error: { message: 'Too many requests' },
    })
  })
})

describe('nuxt', () => {
  test('nothing runs for a client that has left before it was decided', async () => {
    const before = await served('nuxt')
    // On a connection of its own, whose address no request has read.
    const leaving = request(`${urls.nuxt}/left`, { agent: false }).end()
    await expect(once(leaving, 'response')).rejects.toThrow('socket hang up')
    expect(await served('nuxt')).toBe(before)
  })
})

test('Nitro 3: a request of the application to itself is not limited', async () => {
  const client = withAddress('192.0.2.3')
  expect(await (await send('nitro', '/own', client)).text()).toBe('served')
})

describe('react-router', () => {
  test('data of a navigation and actions are refused, and run nothing', async () => {
    await admitted(70, () => send('react-router'))
    const before = await served('react-router')
    const data = await send('react-router', '/_root.data')
    const action = await send('react-router', '/_root.data?index', { method: 'POST' })
    for (const each of [data, action]) {
      expect(each.status).toBe(429)
      // The browser takes a response without it for an ErrorResponse.
      expect(each.headers.get('X-Remix-Response')).toBeNull()
    }
    expect(await served('react-router')).toBe(before)
  })
})

describe('trpc', () => {
  const client = () => {
    const links = [httpBatchLink({ url: `${urls.trpc}/trpc`, maxItems: 20 })]
    return createTRPCClient<AnyTRPCRouter>({ links }) as unknown as {
      hello: { query(): Promise<string> }
    }
  }

  test('each call of a batch counts, and a refusal says how long to wait', async () => {
    const { hello } = client()
    const calls = await Promise.allSettled(Array.from({ length: 70 }, () => hello.query()))
    const refused = calls.filter((each) => each.status === 'rejected')
    expect(refused).toHaveLength(10)
    for (const { reason } of refused) {
      const { data } = reason as TRPCClientError<AnyTRPCRouter>
      expect(data).toMatchObject({ code: 'TOO_MANY_REQUESTS', httpStatus: 429 })
      expect((data as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(0)
    }
  })

  test('a batch above its size is refused as a whole', async () => {
    const calls = Array.from({ length: 21 }, () => 'hello').join(',')
    expect((await send('trpc', `/trpc/${calls}?batch=1`)).status).toBe(400)
  })
})

interface GraphQLAnswer {
  readonly data?: { readonly users?: unknown[] } | null
  readonly errors?: { readonly message: string; readonly extensions?: { readonly code?: string } }[]
}

describe.each(['graphql-yoga', 'apollo'])('%s', (page) => {
  async function ask(query: string, variables = {}, client = 'a') {
    const response = await send(page, page === 'graphql-yoga' ? '/graphql' : '', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Client': `${page} ${client}` },
      body: JSON.stringify({ query, variables }),
    })
    return { response, body: (await response.json()) as GraphQLAnswer }
  }

  test('what was not returned comes back: 20 queries of 601 fields at most, 7 in fact', async () => {
    for (let count = 0; count < 20; count += 1) {
      const { body } = await ask('{ users(first: 300) { id name } }', {}, 'settled')
      expect(body.data?.users).toHaveLength(3)
    }
  })

  test('errors give nothing back; then a query is refused, and no resolver runs', async () => {
    const query = '{ a: users(first: 140) { id name } broken { id name } }'
    const results = []
    for (let count = 0; count < 3; count += 1) results.push(await ask(query, {}, 'errors'))
    expect(results.map(({ response }) => response.status)).toEqual([200, 200, 200])
    const before = await served(page)
    const { response, body } = await ask(query, {}, 'errors')
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(body.errors?.[0]?.extensions?.code).toBe('RATE_LIMITED')
    expect(await served(page)).toBe(before)
  })

  test.each([
    [
      'a fragment and a variable',
      'query ($n: Int) { users(first: $n) { ...F } } fragment F on User { id name }',
    ],
    ['aliases', `{ ${Array.from({ length: 20 }, (_, i) => `a${i}: users(first: 100) { id }`)} }`],
    ['a list of billions', '{ users(first: 2147483647) { id name } }'],
  ])('a query that can never be admitted says so: %s', async (_, query) => {
    const before = await served(page)
    const { body } = await ask(query, { n: 500 }, 'large')
    expect(body.errors?.[0]?.message).toMatch(/^Ask for less: this costs \d+$/)
    expect(await served(page)).toBe(before)
  })
})

describe('better-auth', () => {
  test('its rule of 3 sign-ins in 10 s counts in Redis, also of 10 that come together', async () => {
    const signIn = () =>
      send('better-auth', '/api/auth/sign-in/email', {
        method: 'POST',
        ...withAddress('192.0.2.77'),
      })
    const replies = await Promise.all(Array.from({ length: 10 }, signIn))
    const refused = replies.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(7)
    for (const { headers } of refused) {
      expect(Number(headers.get('X-Retry-After'))).toBeGreaterThan(0)
      expect(Number(headers.get('X-Retry-After'))).toBeLessThanOrEqual(10)
    }
  })
})

test('a Lambda answers as API Gateway expects', async () => {
  const replies = await Promise.all(Array.from({ length: 70 }, () => send('functions')))
  const refused = replies.find(({ status }) => status === 429) as Response
  expect(await refused.text()).toBe('Too many requests')
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
})
