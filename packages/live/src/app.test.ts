import { channel } from 'node:diagnostics_channel'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { memoryStore } from '@sluice/express'
import { until } from '@sluice/test-harness/redis'
import { createApp } from './app.ts'
import { algorithms, CONCURRENT, LIMIT, type OverloadState } from './limits.ts'

const assets = new Map([['/', { type: 'text/html', body: '<title>A page</title>' }]])
const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** Serves the demo, on a clock that stands still; gets a path as one client or another. */
async function serve(store = memoryStore({ clock: manualClock() })) {
  const server = createServer(createApp(store, assets))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return async (path: string, client?: string) => {
    const headers = new Headers(client === undefined ? [] : [['Demo-Client', client]])
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
    return {
      response,
      status: response.status,
      headers: response.headers,
      body: await response.text(),
    }
  }
}

test.each(algorithms.filter((algorithm) => algorithm !== 'concurrency'))(
  '%s admits, and its fields say so',
  async (algorithm) => {
    const get = await serve()
    const { status, headers, body } = await get(`/try/${algorithm}`, 'a')
    expect(status).toBe(200)
    expect(headers.get('ratelimit-policy')).toMatch(/^"default";q=\d+;w=\d+$/)
    expect(headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=\d+$/)
    expect(JSON.parse(body)).toEqual({
      admittedBy: algorithm,
      remaining: Number(headers.get('ratelimit-remaining')),
    })
  },
)

test.each([
  ['sliding-log', LIMIT],
  ['token-bucket', 5],
])('%s refuses beyond its limit, one client and not another', async (algorithm, most) => {
  const get = await serve()
  const path = `/try/${algorithm}`
  for (let i = 0; i < most; i += 1) expect((await get(path, 'a')).status).toBe(200)
  const refused = await get(path, 'a')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(refused.headers.get('content-type')).toBe('application/problem+json')
  expect((await get(path, 'b')).status).toBe(200)
  expect((await get(path)).status).toBe(200)
})

test('each algorithm counts separately', async () => {
  const get = await serve()
  for (let i = 0; i < LIMIT; i += 1) await get('/try/fixed-window', 'a')
  expect((await get('/try/fixed-window', 'a')).status).toBe(429)
  const { headers } = await get('/try/sliding-window', 'a')
  expect(headers.get('ratelimit-remaining')).toBe(`${LIMIT - 1}`)
})

test('concurrency refuses what comes while so many are in progress, and serves the next', async () => {
  const get = await serve()
  const path = '/try/concurrency'
  let atOnce: Awaited<ReturnType<typeof get>>[] = []
  const soManyAreServed = async () => {
    atOnce = await Promise.all(Array.from({ length: 5 }, () => get(path, 'a')))
    return atOnce.filter(({ status }) => status === 200).length === CONCURRENT
  }
  // If a stall outlasts the work, some come only after it: then another five are sent.
  await until(soManyAreServed, { what: `${CONCURRENT} of 5 requests at once are served` })
  const refused = atOnce.find(({ status }) => status === 429)
  expect(refused?.headers.get('ratelimit-policy')).toMatch(/;q=2;qu="concurrent-requests"$/)
  expect(refused?.headers.get('ratelimit')).toBe('"default";r=0')
  const next = await Promise.all([get(path, 'a'), get(path, 'b')])
  expect(next.map(({ status }) => status)).toEqual([200, 200])
})

test('an unknown algorithm', async () => {
  const get = await serve()
  expect((await get('/try/guessing')).status).toBe(404)
})

test('memory is bounded, however many clients come, and whatever they call themselves', async () => {
  const store = memoryStore({ maxKeys: 20, clock: manualClock() })
  const get = await serve(store)
  const long = 'x'.repeat(10_000)
  for (let i = 0; i < 60; i += 1) {
    expect((await get('/try/sliding-log', `${i}${long}`)).status).toBe(200)
  }
  expect(store.size).toBeLessThanOrEqual(20)
})

test('names of clients count by their first 64 characters', async () => {
  const get = await serve()
  const name = 'x'.repeat(64)
  await get('/try/sliding-log', `${name}1`)
  const { headers } = await get('/try/sliding-log', `${name}2`)
  expect(headers.get('ratelimit-remaining')).toBe(`${LIMIT - 2}`)
})

test('the clock is the store’s, and reading it consumes nothing', async () => {
  const store = memoryStore({ clock: () => 1_800_000_000_000 })
  const get = await serve(store)
  expect(JSON.parse((await get('/clock')).body)).toEqual({ now: 1_800_000_000_000 })
  expect(store.size).toBe(0)
})

test('the page may load and ask for nothing from elsewhere', async () => {
  const get = await serve()
  const { headers, body } = await get('/')
  expect(body).toBe('<title>A page</title>')
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
  expect(headers.get('content-security-policy')).not.toContain('unsafe')
})

test('what other load shedders of the process do is not shown', async () => {
  const get = await serve()
  channel('sluice:overload').publish({ limiter: 'other', limit: 7, classes: {} })
  const state = JSON.parse((await get('/overload/state')).body) as OverloadState
  expect([state.limit, state.seconds]).toEqual([0, []])
})

test('a load of three times what a server can do is shed, the critical part is served, and it ends', async () => {
  const get = await serve()
  const { response } = await get('/overload/state')
  const load = (times: number) =>
    fetch(response.url.replace('state', `load/${times}`), { method: 'POST' })
  await load(3)
  const stateOf = async () => JSON.parse((await get('/overload/state')).body) as OverloadState
  expect((await load(10)).status).toBe(202)
  expect((await stateOf()).load).toBe(3)
  await until(
    async () => {
      const { seconds, load: current } = await stateOf()
      // On a slow machine, the load may end before the shedder has seen that it is too much.
      if (current === 0) await load(3)
      return seconds.reduce((sum, { classes }) => sum + (classes.normal?.shed ?? 0), 0) > 0
    },
    { what: 'some are refused' },
  )
  const { limit, signal } = await stateOf()
  expect(limit).toBeGreaterThan(0)
  expect(signal).toBeDefined()
  expect((await load(7)).status).toBe(404)
})
