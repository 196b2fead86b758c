import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { memoryStore, type RateLimitOptions, redisStore } from '@sluice/express'
import { type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { type Client, send } from './clients.ts'
import { FRAMEWORKS, type Running, start, type Version } from './servers.ts'

let redis: RedisServer
let connection: Redis

beforeAll(async () => {
  redis = await startRedis()
  connection = new Redis(redis.port, redis.host)
})
afterAll(async () => {
  connection.disconnect()
  await redis.stop()
})

const STORES: Record<string, () => NonNullable<RateLimitOptions['store']> & { close(): void }> = {
  memory: () => memoryStore(),
  Redis: () => redisStore(connection),
}
const VERSIONS: Version[] = ['HTTP/1.1', 'HTTP/2']

const CASES = Object.keys(FRAMEWORKS)
  .flatMap((adapter) =>
    VERSIONS.flatMap((version) =>
      Object.keys(STORES).map((kind) => [adapter, version, kind] as const),
    ),
  )
  .filter(([adapter, version]) => adapter !== 'Express 4' || version === 'HTTP/1.1')
const ROUNDS = 5
const AT_ONCE = 10

type Anything = { statusCode?: number; status?: number; raw?: { statusCode: number } }

/** The status of a response of any of the frameworks. */
const statusOf = (response: Anything) => response.statusCode ?? response.status
const FIVE_A_DAY = { limit: 5, window: '1d', algorithm: 'fixed-window', deadline: '1m' } as const
/** Responses with a status of 201 for which `settle` was called. */
let created: Set<Anything>
const RESERVED = {
  ...FIVE_A_DAY,
  settle(_: unknown, response: Anything) {
    if (statusOf(response) !== 201) return 0
    created.add(response)
    return 1
  },
}
const CHARGED_AFTERWARDS = {
  ...FIVE_A_DAY,
  cost: 0,
  settle: (_: unknown, response: Anything) => (statusOf(response) === 401 ? 1 : 0),
}

describe.each(CASES)('clients that leave early: %s, %s, %s', (adapter, version, kind) => {
  let store: ReturnType<(typeof STORES)[string]>
  let site: Running
  let clients: Client[]
  /** Requests that have come, that a handler has begun, and whose response is closed. */
  let come: number
  let begun: number
  let closed: number
  let finish: (status: number | Error) => void
  let finished: Promise<number | Error>

  beforeEach(async () => {
    await connection.flushall()
    store = (STORES[kind] as (typeof STORES)[string])()
    created = new Set()
    clients = []
    come = 0
    begun = 0
    closed = 0
    finished = new Promise((resolve) => {
      finish = resolve
    })
  })
  afterEach(async () => {
    finish(500)
    for (const client of clients) client.leave()
    await site.stop()
    store.close()
  })

  async function serve(
    options: object,
    before: (request: IncomingMessage, response: ServerResponse) => Promise<void> = async () => {},
  ): Promise<void> {
    const slow = {
      options: { store, ...options },
      async before(request: IncomingMessage, response: ServerResponse) {
        come += 1
        response.once('close', () => {
          closed += 1
        })
        await before(request, response)
      },
      async work() {
        begun += 1
        const status = await finished
        if (typeof status !== 'number') throw status
        return status
      },
    }
    site = await start(adapter, slow, version)
  }

  /** Makes clients send a request each, and leave once a handler works for it or it is answered. */
  async function sendAndLeave(count = 1): Promise<void> {
    const began = begun
    const sent = Array.from({ length: count }, () => send(site.port, version))
    clients.push(...sent)
    const answered = () => sent.filter(({ status }) => status !== undefined).length
    await until(() => begun - began + answered() === count, { what: 'all are decided' })
    for (const client of sent) client.leave()
    await until(() => closed === clients.length, { what: 'the server has seen the clients leave' })
  }

  async function untilLeft(units: number, key = '127.0.0.1'): Promise<void> {
    const left = async () => ((await site.limiter.peek(key)) as { remaining: number }).remaining
    await until(async () => (await left()) === units, { what: `${units} units are left` })
  }

  test('50 that send and leave: no more handlers than the limit, and their work is charged', async () => {
    await serve(RESERVED)
    for (let i = 0; i < ROUNDS; i += 1) await sendAndLeave(AT_ONCE)
    expect(begun).toBe(5)
    await untilLeft(0)
    finish(201)
    await until(() => created.size === 5, { what: 'all are settled' })
    await untilLeft(0)
  })

  test('what the work did not cost is given back when it ends', async () => {
    await serve(RESERVED)
    await sendAndLeave(2)
    await untilLeft(3)
    finish(400)
    await untilLeft(5)
  })

  test.each<[string, number | Error]>([
    ['an answer', 401],
    ['an error', Object.assign(new Error('wrong'), { status: 401, statusCode: 401 })],
  ])('charged afterwards, %s after the client has left costs as much', async (_, outcome) => {
    await serve(CHARGED_AFTERWARDS)
    await sendAndLeave()
    await untilLeft(5)
    finish(outcome)
    await untilLeft(4)
  })

  describe('after asynchronous middleware', () => {
    const untilGone = (_: unknown, response: ServerResponse) =>
      new Promise<void>((resolve) => {
        response.once('close', () => setImmediate(resolve))
      })

    async function leaveBefore(): Promise<void> {
      const client = send(site.port, version)
      clients.push(client)
      await until(() => come === clients.length, { what: 'the request has come' })
      client.leave()
      await until(() => closed === clients.length, { what: 'the server has seen the client leave' })
      for (let i = 0; i < 10; i += 1) await new Promise(setImmediate)
    }

    test('a request whose address is lost ends there, and is not charged', async () => {
      await serve(RESERVED, untilGone)
      for (let i = 0; i < 3; i += 1) await leaveBefore()
      expect(begun).toBe(0)
      await untilLeft(5, 'unknown')
      await untilLeft(5)
    })

    test('one that is keyed by a function goes on and is charged', async () => {
      await serve({ ...RESERVED, key: () => 'alice' }, untilGone)
      for (let i = 0; i < 8; i += 1) await leaveBefore()
      await until(() => begun === 5, { what: 'the handlers that the limit admits have begun' })
      await untilLeft(0, 'alice')
    })

    test('a dry run lets it go on, uncharged', async () => {
      await serve({ ...RESERVED, dryRun: true }, untilGone)
      await leaveBefore()
      await until(() => begun === 1, { what: 'the handler has begun' })
      await untilLeft(5, 'unknown')
    })
  })
})
