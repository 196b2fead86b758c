import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { type Limiter, type MemoryStore, memoryStore } from '@sluice/core'
import {
  type FailingStore,
  failingStore,
  type ManualClock,
  manualClock,
} from '@sluice/core/testing'
import { type PlainOptions, type PlainServer, servePlain } from '../testing/plain-server.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const HOLD = 30_000
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const DAY = { limit: 100, window: '1d', algorithm: 'fixed-window', cost: 40 } as const

let clock: ManualClock
let store: MemoryStore | FailingStore
let server: PlainServer
let sockets: Socket[]
/** Responses that the application works on: it has not ended them. */
let running: ServerResponse[]
/** What requests turn out to have cost, as far as the application knows. */
let cost: number | undefined

beforeEach(() => {
  clock = manualClock()
  store = memoryStore({ clock })
  sockets = []
  running = []
  cost = undefined
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick', 'Date'] })
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await server.stop()
  for (const each of server.httpLimiters) each.limiter.close()
  store.close()
  jest.useRealTimers()
  jest.restoreAllMocks()
})

async function serve(options: object = {}, handle: Handler = (_, each) => running.push(each)) {
  const estimate = { ...DAY, reserve: true, settle: () => cost }
  const single = 'policies' in options ? {} : estimate
  server = await servePlain([{ store, deadline: 1000, ...single, ...options } as never], handle)
}

const limiter = () => server.httpLimiters[0]?.base.limiter as Limiter
const used = async () => 100 - (await limiter().peek('127.0.0.1')).remaining

function raw(bytes: string): Socket {
  const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes))
  socket.on('error', () => {})
  sockets.push(socket)
  return socket
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate)
}

async function turns(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise(setImmediate)
}

/** Starts requests, each on a connection of its own, and waits until the application works on each. */
async function begin(count = 1): Promise<Socket[]> {
  const begun: Socket[] = []
  for (let i = 0; i < count; i += 1) {
    const before = running.length
    begun.push(raw(GET))
    await until(() => running.length === before + 1)
  }
  return begun
}

/** A client leaves, and its server notices. */
async function leave(client: Socket | undefined, response: ServerResponse | undefined) {
  client?.destroy()
  await until(() => response?.closed === true)
  await turns()
}

/** The clock passes together with the timers. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    clock.advance(1000)
    jest.advanceTimersByTime(1000)
    await new Promise(setImmediate)
  }
}

async function end(response = running[0], actual?: number): Promise<void> {
  cost = actual
  response?.end()
  await turns()
}

test('a thousand streams of one user leave room for the others of its organisation', async () => {
  const budget = { ...DAY, limit: 1e9, cost: 1, reserve: true, settle: () => cost }
  await serve({
    policies: [
      { ...budget, name: 'user', key: (request: IncomingMessage) => request.url },
      { ...budget, name: 'org', key: () => 'acme' },
    ],
  })
  const refused = (socket: Socket) => {
    let count = 0
    socket.on('data', (bytes) => {
      count += `${bytes}`.split('HTTP/1.1 429').length - 1
    })
    return () => count
  }
  const streamsOf = (url: string, count: number) => raw(GET.replace('/', url).repeat(count))
  // Refusals wait for the responses before them.
  streamsOf('/ada', 1200)
  await until(() => running.length === 1000)
  const adasOther = refused(streamsOf('/ada', 1))
  await until(() => adasOther() === 1)
  streamsOf('/bob', 100)
  await until(() => running.length === 1100)
})

describe('an estimate', () => {
  test('is held while the response runs, and corrected when it ends', async () => {
    await serve()
    await begin()
    await pass(10 * HOLD)
    expect(await used()).toBe(40)
    await end(running[0], 15)
    await pass(2 * HOLD)
    expect(await used()).toBe(15)
  })

  test('is back after hold if its process has died', async () => {
    await serve()
    await begin()
    limiter().close()
    await pass(HOLD - 1000)
    expect(await used()).toBe(40)
    await pass(1000)
    expect(await used()).toBe(0)
  })

  test('that is settled after the limiter was closed is charged all the same', async () => {
    await serve()
    await begin()
    limiter().close()
    await pass(2 * HOLD)
    await end(running[0], 15)
    expect(await used()).toBe(15)
  })

  test.each<[string, () => unknown]>([
    ['throws', () => Promise.reject(new Error('no usage'))],
    ['never answers', () => new Promise(() => {})],
  ])('stays charged if settle %s', async (_, settle) => {
    await serve({ settle })
    await begin()
    await end()
    await pass(4 * HOLD)
    expect(await used()).toBe(40)
    expect(jest.getTimerCount()).toBe(0)
  })

  test.each([40, 60])(
    'of 40 that a slow response has used up, with %i, is charged for good',
    async (used) => {
      const settle = () => cost
      const minute = { name: 'minute', ...DAY, limit: 1000, window: '1m', settle }
      await serve({ policies: [{ name: 'day', ...DAY, reserve: true, settle }, minute] })
      await begin()
      cost = used
      await pass(60_000)
      await turns()
      limiter().close()
      await pass(2 * HOLD)
      expect((await limiter().peek('127.0.0.1')).policies[0]?.remaining).toBe(100 - used)
    },
  )

  test('of a response that is destroyed is corrected', async () => {
    await serve()
    await begin()
    cost = 5
    running[0]?.destroy(new Error('the handler failed'))
    await turns()
    expect(await used()).toBe(5)
  })
})

describe('a client', () => {
  test('gets nothing back by leaving, whether the application ends the response or not', async () => {
    await serve()
    const clients = await begin(2)
    for (const [i, client] of clients.entries()) await leave(client, running[i])
    await pass(4 * HOLD)
    expect(await used()).toBe(80)
    // Nothing is held for it any more: no timer, no renewal.
    expect(jest.getTimerCount()).toBe(0)
    await end(running[1], 12)
    expect(await used()).toBe(52)
  })

  test('has a thousand at most, on one connection or many, and harms no other', async () => {
    const keys = ['key:ada', 'key:grace']
    await serve({ limit: 10_000, cost: 1, key: ({ url }: IncomingMessage) => `${url?.slice(1)}` })
    raw('GET /ada HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1001))
    await until(() => running.length === 1000)
    await turns()
    expect(running).toHaveLength(1000)
    const remaining = keys.map(async (key) => (await limiter().peek(key)).remaining)
    expect(await Promise.all(remaining)).toEqual([0, 10_000])
    await pass(2000)
    sockets[0]?.destroy()
    await turns()
    expect((await limiter().peek('key:ada')).remaining).toBe(9000)
  })
})

describe('beside', () => {
  test('slots: they are free at once, and the estimate is corrected', async () => {
    const policies = [
      { name: 'in-flight', concurrent: 2, hold: '10s' },
      { name: 'tokens', ...DAY, reserve: true, settle: () => cost },
    ]
    const answers: ((actual: number) => void)[] = []
    const settle = () => new Promise((resolve) => answers.push(resolve))
    await serve({ policies: [policies[0], { ...policies[1], settle }] })
    await begin(2)
    const remaining = async () => {
      return (await limiter().peek('127.0.0.1')).policies.map((each) => each.remaining)
    }
    await pass(2 * HOLD)
    expect(await remaining()).toEqual([0, 20])
    await end(running[0])
    await pass(5000)
    expect(await remaining()).toEqual([1, 20])
    answers[0]?.(10)
    await turns()
    await pass(2 * HOLD)
    expect(await remaining()).toEqual([1, 50])
  })

  test('limits and windows that are functions, and routes with their own', async () => {
    const limit = ({ url }: IncomingMessage) => (url === '/small' ? 50 : 100)
    const routes = {
      '/long': { hold: '1m' },
      '/rate': { limit: 9, cost: 2, reserve: false },
      '/own': { limit: 50 },
    }
    await serve({ limit, window: () => '1d', hold: '5s', routes })
    const sent = ['/small', '/long', '/rate', '/own'].map((path) => server.send('GET', path))
    await until(() => running.length === 4)
    await pass(2 * HOLD)
    const [small, long, rate, own] = server.httpLimiters[0]?.httpLimiters ?? []
    const left = async (each: typeof small, limit: number) =>
      (await each?.limiter.peek('127.0.0.1', { limit, window: '1d' }))?.remaining
    const all = [left(small, 100), left(long, 100), left(rate, 9), left(own, 50)]
    expect(await Promise.all(all)).toEqual([60, 60, 7, 10])
    for (const each of server.httpLimiters) each.limiter.close()
    clock.advance(5000)
    const held = [left(small, 100), left(long, 100), left(own, 50)]
    expect(await Promise.all(held)).toEqual([100, 60, 50])
    clock.advance(55_000)
    expect(await left(long, 100)).toBe(100)
    for (const each of running) each.end()
    await Promise.all(sent)
  })
})

describe('while the store is down', () => {
  let failing: FailingStore
  beforeEach(() => {
    failing = failingStore({ clock })
    store.close()
    store = failing
  })

  test('what has cost something is charged when it is back, also after hold', async () => {
    await serve()
    await begin(2)
    failing.fail()
    await end(running[0], 15)
    await end(running[1], 60)
    await pass(2 * HOLD)
    expect(await limiter().peek('127.0.0.1')).toMatchObject({ source: 'local', remaining: 25 })
    failing.recover()
    await pass(4 * HOLD)
    expect(await limiter().peek('127.0.0.1')).toMatchObject({ source: 'store', remaining: 25 })
    expect(jest.getTimerCount()).toBeLessThan(3)
  })

  test('what has cost something is charged also if no further request comes to the process', async () => {
    await serve({ cost: 10 })
    await begin(8)
    failing.fail()
    for (const each of running) {
      await end(each, 3)
      await pass(1000)
    }
    await pass(2 * HOLD)
    failing.recover()
    await pass(4 * HOLD)
    expect(await limiter().peek('127.0.0.1')).toMatchObject({ source: 'store', remaining: 76 })
  })

  test('for less than hold, a settlement is repeated exactly', async () => {
    await serve()
    await begin()
    failing.fail()
    await end(running[0], 15)
    await pass(5000)
    failing.recover()
    await pass(2 * HOLD)
    expect(await limiter().peek('127.0.0.1')).toMatchObject({ source: 'store', remaining: 85 })
  })

  test('a settlement whose answer comes too late is not repeated', async () => {
    await serve()
    await begin()
    failing.hang()
    await end(running[0], 15)
    await pass(2000)
    failing.recover()
    await pass(4 * HOLD)
    expect(await limiter().peek('127.0.0.1')).toMatchObject({ source: 'store', remaining: 85 })
  })

  test('an estimate of this process is settled there', async () => {
    await serve()
    failing.fail()
    await begin()
    await pass(2 * HOLD)
    expect(await limiter().peek('127.0.0.1')).toMatchObject({ source: 'local', remaining: 60 })
    await end(running[0], 15)
    expect(await limiter().peek('127.0.0.1')).toMatchObject({ source: 'local', remaining: 85 })
  })
})

describe('wrong options', () => {
  test.each<[object, string]>([
    [{ settle: undefined }, 'reserve'],
    [{ cost: 0 }, 'reserve'],
    [{ algorithm: 'sliding-log' }, 'reserve'],
    [{ algorithm: 'leaky-bucket' }, 'reserve'],
    [{ reserve: undefined, hold: '30s' }, 'hold'],
    [{ policies: [{ ...DAY, reserve: true }] }, 'policies[0].reserve'],
    [{ routes: { '/a': { settle: undefined, cost: 0 } } }, "routes['/a'].reserve"],
  ])('%j', async (options, option) => {
    await expect(serve(options as PlainOptions)).rejects.toMatchObject({
      code: 'SLUICE_OPTION_CONFLICT',
      option,
    })
    await serve()
  })
})
