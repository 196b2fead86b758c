// Who may see the page, and who may change anything: asked for as an attacker would.

import { request as httpRequest, type IncomingMessage } from 'node:http'
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
import { createLimiter, type Limiter } from '@sluice/core'
import { fakeTerminal } from '@sluice/terminal/testing/fake-terminal'
import { patient, type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { connect } from '../connect.ts'
import type { Connection } from '../connection.ts'
import type { ServeFlags } from '../flags.ts'
import { isOwnHost } from './access.ts'
import { serveCommand } from './serve-command.ts'

let redis: RedisServer
let connection: Connection
let address: URL
const interrupt = new AbortController()
const io = fakeTerminal(false)
let serving: Promise<unknown>

const flags: ServeFlags = {
  prefix: 'sluice',
  host: '127.0.0.1',
  port: '0',
  every: '100ms',
  ipv6Prefix: '56',
}

beforeAll(async () => {
  redis = await startRedis()
  connection = await connect({ redis: redis.url })
  serving = serveCommand(flags, connection, io, interrupt.signal)
  await io.shows(/\n/)
  address = new URL(io.out().trim())
})
afterAll(async () => {
  interrupt.abort()
  await serving
  connection.close()
  await redis.stop()
})
beforeEach(async () => {
  await redis.command('FLUSHALL')
  const { store } = connection
  const terms = { prefix: 'sluice', limit: 5, window: '1d' } as const
  await createLimiter({ ...patient, store, ...terms }).consume('client', { cost: 5 })
})

interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

interface Answered {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: string
}

/**
 * Asks the server without what `fetch` would add or forbid.
 * @param path below the token, or with a slash the whole path
 */
function ask(
  path: string,
  { method = 'GET', headers = {}, body = '' }: Sent = {},
): Promise<Answered> {
  const { hostname, port, pathname } = address
  const whole = path.startsWith('/') ? path : pathname + path
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path: whole, method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode as number,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      )
    })
    request.on('error', reject)
    request.end(body)
  })
}

const json = { 'Content-Type': 'application/json' }
const post = (path: string, body: object, headers: Record<string, string> = json) =>
  ask(path, { method: 'POST', headers, body: JSON.stringify(body) })

async function used(): Promise<number | undefined> {
  for await (const entry of connection.store.inspect({ key: 'client' })) return entry.used
  return undefined
}

test('the address is of this machine, and has a token that nobody guesses', () => {
  expect(address.hostname).toBe('127.0.0.1')
  expect(address.pathname).toMatch(/^\/[\w-]{43}\/$/)
  expect(io.err()).not.toContain('Other machines')
})

test('the page may load and ask for nothing from elsewhere, and is nobody’s frame', async () => {
  const { status, headers, body } = await ask('')
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  const policy = headers['content-security-policy']
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe|https?:|\*/)
  expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' })
  expect(body).not.toContain(address.pathname.slice(1, -1))
})

test.each([
  '/',
  '/state',
  '/wrong/state',
  `/${'A'.repeat(43)}/`,
  `/${'A'.repeat(43)}/state`,
  '//state',
  '/%2e%2e/state',
])('without the token there is nothing: %s', async (path) => {
  expect(await ask(path)).toMatchObject({ status: 404, body: '{"problem":"not found"}' })
})

test('nor with a part of it, or with more', async () => {
  const token = address.pathname.slice(1, -1)
  for (const path of [
    `/${token.slice(1)}/`,
    `/${token}`,
    `/${token}x/`,
    `/${token}/state/x`,
    `/${token}/none`,
  ])
    expect((await ask(path)).status).toBe(404)
})

test.each([
  'evil.example',
  'evil.example:80',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'a@b',
  '[::1',
])('a name that leads here by its DNS alone is refused: %j', async (host) => {
  const answered = await ask('state', { headers: { Host: host } })
  expect([answered.status, answered.body.includes('keys')]).toEqual([403, false])
})

test.each(['localhost:1', 'LOCALHOST', '127.0.0.1', '[::1]:80'])(
  'a name of this machine is taken: %s',
  async (host) => {
    expect((await ask('state', { headers: { Host: host } })).status).toBe(200)
  },
)

test.each<[string, Record<string, string>]>([
  ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
  ['text that is JSON', { 'Content-Type': 'text/plain' }],
  ['no type', {}],
  ['another origin', { ...json, Origin: 'http://evil.example' }],
  ['an origin that ends alike', { ...json, Host: 'localhost', Origin: 'http://notlocalhost' }],
  ['no origin at all', { ...json, Origin: 'null' }],
  ['another port', { ...json, Origin: 'http://127.0.0.1:1' }],
  ['another site', { ...json, 'Sec-Fetch-Site': 'cross-site' }],
  ['the same site alone', { ...json, 'Sec-Fetch-Site': 'same-site' }],
])('another page can change nothing, with the token or not: by %s', async (_, headers) => {
  expect((await post('reset', { key: 'client' }, headers)).status).toBe(403)
  expect(await used()).toBe(5)
})

describe('live policies', () => {
  let limiter: Limiter<'async'>
  const body = { action: 'limit', policy: 'api', value: '50', by: 'eve', seen: 0 }
  beforeEach(async () => {
    const { store } = connection
    limiter = createLimiter({ ...patient, store, name: 'api', limit: 9, window: '1h', live: true })
    await limiter.consume('client')
    for await (const { prefix } of store.inspect()) expect(prefix).toBe('sluice')
  })
  afterEach(() => limiter.close())

  test('are in the state, and change', async () => {
    const state = async () => JSON.parse((await ask('state')).body).policies
    await until(async () => (await state()).cards[0]?.clients !== undefined, {
      everyMs: 20,
      what: 'the policies are read',
    })
    expect(await state()).toMatchObject({ seen: 0, cards: [{ id: 'api', limit: 9 }] })
    expect(await post('policy', body)).toMatchObject({ status: 200, body: '{"number":1}' })
    expect(await state()).toMatchObject({ seen: 1, cards: [{ limit: 50 }] })
    expect((await limiter.peek('client')).limit).toBe(50)
  })

  test.each<[string, Record<string, string>]>([
    ['text that is JSON', { 'Content-Type': 'text/plain' }],
    ['another origin', { ...json, Origin: 'http://evil.example' }],
    ['another site', { ...json, 'Sec-Fetch-Site': 'cross-site' }],
  ])('another page can’t change them: by %s', async (_, headers) => {
    expect((await post('policy', body, headers)).status).toBe(403)
    expect((await ask('policy')).status).toBe(404)
    expect((await ask('/wrong/policy', { method: 'POST', headers: json })).status).toBe(404)
    expect(await limiter.policies.history()).toEqual([])
  })

  test('a change in between is an error that says who made it, in printable characters', async () => {
    await limiter.policies.set('api', { limit: 7 }, { by: 'bob\u001b[2J' })
    const { status, body: said } = await post('policy', body)
    expect([status, JSON.parse(said)]).toEqual([
      400,
      { problem: expect.stringContaining('1, by bob\\u001b[2J') },
    ])
    expect((await limiter.peek('client')).limit).toBe(7)
  })

  test.each(['null', '5', '[]', '{"action":"limit"}'])('%s is refused', async (wrong) => {
    const answered = await ask('policy', { method: 'POST', headers: json, body: wrong })
    expect(answered).toMatchObject({ status: 400, body: expect.stringMatching(/expected/) })
  })
})

test('a GET changes nothing', async () => {
  for (const path of ['reset', 'reset?key=client', 'block?key=client&duration=1h'])
    expect((await ask(path)).status).toBe(404)
  expect(
    (await ask('reset', { method: 'PUT', headers: json, body: '{"key":"client"}' })).status,
  ).toBe(405)
  expect(await used()).toBe(5)
})

test('the page itself inspects, blocks, unblocks and resets', async () => {
  const own = { ...json, Origin: address.origin, 'Sec-Fetch-Site': 'same-origin' }
  const done = async (path: string, body: object) => JSON.parse((await post(path, body, own)).body)
  const { entries } = await done('inspect', { key: 'client' })
  expect(entries).toMatchObject([{ key: 'client', used: 5, standing: 'exhausted' }])
  expect(await done('block', { key: 'client', duration: '1h' })).toEqual({
    key: 'client',
    changed: 1,
    until: expect.any(Number),
  })
  expect((await done('inspect', { key: 'client' })).entries).toMatchObject([
    { standing: 'blocked' },
  ])
  expect(await done('unblock', { key: 'client' })).toEqual({ key: 'client', changed: 1 })
  expect(await done('inspect', { key: 'client' })).toEqual({
    key: 'client',
    entries: [],
    networks: [],
    isKnown: true,
    nothing: 'nothing is counted under the prefix sluice: unused in default',
  })
  expect(await done('reset', { key: 'client' })).toEqual({ key: 'client', changed: 0 })
  const limit = { key: 'client', policy: 'default', units: '20' }
  expect(await done('limit', { ...limit, policy: 'no', duration: '30d' })).toEqual({
    key: 'client',
    changed: 0,
  })
  const { store } = connection
  const limiter = createLimiter({ ...patient, store, prefix: 'sluice', limit: 5, window: '1d' })
  await limiter.consume('other')
  expect(await done('limit', limit)).toEqual({ key: 'client', changed: 1 })
  expect(await limiter.peek('client')).toMatchObject({ limit: 20 })
  expect(await done('limit', { ...limit, units: undefined })).toEqual({ key: 'client', changed: 1 })
  expect(await limiter.peek('client')).toMatchObject({ limit: 5 })
  const key = '203.0.113.0/24'
  expect(await done('block', { key: '203.0.113.9/24', duration: '1h' })).toEqual({
    key,
    changed: 1,
    until: expect.any(Number),
  })
  const networks = [{ network: key, endsMs: expect.any(Number), until: expect.any(Number) }]
  expect(await done('inspect', { key: '203.0.113.7' })).toMatchObject({ networks })
  expect(await done('unblock', { key })).toEqual({ key, changed: 1 })
  expect(await done('unblock', { key })).toEqual({ key, changed: 0 })
})

test.each([
  ['reset', '{"key":1}'],
  ['reset', '{}'],
  ['reset', 'null'],
  ['reset', '{"key":""}'],
  ['reset', '{'],
  ['reset', ''],
  ['block', '{"key":"client"}'],
  ['block', '{"key":"client","duration":"100y"}'],
  ['block', '{"key":"client","duration":{}}'],
  ['limit', '{"key":"client","units":"5"}'],
  ['limit', '{"key":"client","policy":"default","units":"-5"}'],
  ['limit', '{"key":"10.0.0.0/8","policy":"default","units":"5"}'],
])('%s refuses %s, and says why', async (path, body) => {
  const answered = await ask(path, { method: 'POST', headers: json, body })
  expect(answered).toMatchObject({ status: 400, body: expect.stringMatching(/expected/i) })
  expect(await used()).toBe(5)
})

test('a request that is too long is not read to its end', async () => {
  const key = 'x'.repeat(70_000)
  const answered = await post('inspect', { key }).catch(({ code }) => ({ status: code }))
  // The connection may be closed before the answer is read.
  expect([400, 'EPIPE', 'ECONNRESET']).toContain(answered.status)
})

test('the state has the counts, who is at a limit, and what the server says of itself', async () => {
  const state = async () => JSON.parse((await ask('state')).body)
  // A reading may come before the limits have been written, or be of an earlier test, which had more keys.
  let shown = await state()
  const isRead = async () => {
    shown = await state()
    const { keys, exhausted } = shown.history.at(-1) ?? {}
    return keys === 1 && exhausted === 1 && shown.ranking.top[0]?.limit === 5
  }
  await until(isRead, { everyMs: 20, what: 'the keys are read, and their limits' })
  const { ranking, history, health } = shown
  expect(ranking.top).toMatchObject([{ key: 'client', limit: 5, remaining: 0 }])
  expect(history.at(-1)).toMatchObject({ keys: 1, exhausted: 1, blocked: 0 })
  expect(health).toMatchObject([{ role: 'master', memory: { evictedKeys: 0 } }])
})

test('nobody who looks: the store is not read', async () => {
  const now = jest.spyOn(performance, 'now')
  const late = performance.now() + 60_000
  now.mockImplementation(() => late)
  const scans = async () => (await redis.commandStats()).scan?.calls ?? 0
  let before = -1
  await until(
    async () => {
      const last = before
      before = await scans()
      return last === before
    },
    { everyMs: 300, what: 'it rests' },
  )
  now.mockRestore()
  await ask('state')
  await until(async () => (await scans()) > before, {
    everyMs: 20,
    what: 'it reads again',
  })
})

test('a name that other machines can reach comes with a warning', async () => {
  const other = fakeTerminal(false)
  const ending = new AbortController()
  const running = serveCommand({ ...flags, host: '0.0.0.0' }, connection, other, ending.signal)
  await other.shows(/\n/)
  ending.abort()
  await running
  expect(other.err()).toContain('Other machines can reach it')
})

test.each([[{ port: '65536' }], [{ port: 'x' }], [{ every: '1ms' }], [{ host: '203.0.113.1' }]])(
  '%j is refused',
  async (wrong) => {
    const refused = serveCommand(
      { ...flags, ...wrong },
      connection,
      fakeTerminal(false),
      interrupt.signal,
    )
    await expect(refused).rejects.toThrow(/--/)
  },
)

test('the name that it listens on is its own, in capitals too', () => {
  const of = (host: string) => ({ headers: { host } }) as IncomingMessage
  expect(isOwnHost(of('vm.example:80'), 'VM.Example')).toBe(true)
  expect(isOwnHost(of('VM.EXAMPLE'), 'vm.example')).toBe(true)
  expect(isOwnHost(of('other.example'), 'VM.Example')).toBe(false)
})
