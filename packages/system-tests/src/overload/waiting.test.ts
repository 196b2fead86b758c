// Requests that wait for a limiter (`maxWait`), over sockets.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { type Limiter, type RateLimitOptions, rateLimit, SluiceError } from '@sluice/express'
import { useRedis } from '@sluice/test-harness/jest'
import { until } from '@sluice/test-harness/redis'
import { openRaw, type Reply, type SendOptions, send } from '@sluice/test-suites/client'
import express, { type Request } from 'express'
import { waitersOf } from './servers.ts'

const redis = useRedis()
let server: Server
let limiter: Limiter
let begun: string[]
let finish: (() => void)[]
let prefixes = 0

const STORES = { memory: () => undefined, Redis: () => redis.client }
const TEXT = 'GET /left HTTP/1.1\r\nHost: a\r\n\r\n'

async function listen(options: Partial<RateLimitOptions>) {
  begun = []
  finish = []
  const app = express()
  const limit = rateLimit({
    key: () => 'all',
    prefix: `w${++prefixes}`,
    deadline: '1m',
    maxWait: '1m',
    ...options,
  } as RateLimitOptions)
  app.use(limit, (request, response) => {
    begun.push(request.path)
    finish.push(() => void response.send(request.path))
  })
  limiter = limit.limiter
  server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return limit
}

afterEach(() => {
  jest.useRealTimers()
  server.closeAllConnections()
  server.close()
})

const target = () => ({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })

function ask(path: string, options: SendOptions = {}): Promise<Reply> {
  const reply = send(target(), { path, ...options })
  reply.catch(() => {})
  return reply
}

const waiting = (count: number) =>
  until(() => waitersOf(limiter) === count, { what: `${count} wait` })
const beginning = (count: number) =>
  until(() => begun.length === count, { what: `${count} have begun` })

/** Asks, one after the other, so that they stand in the queue in this order. */
async function inOrder(asked: readonly (() => Promise<Reply>)[]): Promise<Promise<Reply>[]> {
  const replies: Promise<Reply>[] = []
  for (const each of asked) {
    const before = waitersOf(limiter)
    replies.push(each())
    await waiting(before + 1)
  }
  return replies
}

describe.each(Object.entries(STORES))('slots in %s', (_, store) => {
  test('a request waits for a slot, in the order of priority', async () => {
    const priority = ({ path }: Request) => (path === '/pro' ? 1 : 0)
    await listen({ store: store(), concurrent: 1, priority })
    const first = ask('/first')
    await beginning(1)
    const replies = await inOrder([() => ask('/free'), () => ask('/pro')])
    expect(begun).toEqual(['/first'])
    for (let i = 1; i < 3; i += 1) {
      finish.shift()?.()
      await beginning(i + 1)
    }
    finish.shift()?.()
    expect(begun).toEqual(['/first', '/pro', '/free'])
    for (const reply of [first, ...replies]) expect((await reply).status).toBe(200)
  })

  test('clients take turns', async () => {
    await listen({ store: store(), concurrent: 1 })
    void ask('/first')
    await beginning(1)
    const many = [1, 2, 3].map((i) => () => ask(`/many-${i}`, { from: '127.0.0.2' }))
    await inOrder([...many, () => ask('/one', { from: '127.0.0.3' })])
    for (let i = 1; i < 5; i += 1) {
      finish.shift()?.()
      await beginning(i + 1)
    }
    expect(begun).toEqual(['/first', '/many-1', '/one', '/many-2', '/many-3'])
  })

  test('who leaves, leaves the queue; its slot is nobody’s', async () => {
    await listen({ store: store(), concurrent: 1 })
    void ask('/first')
    await beginning(1)
    const leaving = openRaw(target(), TEXT)
    await waiting(1)
    const [next] = await inOrder([() => ask('/next')])
    leaving.destroy()
    await waiting(1)
    finish.shift()?.()
    await beginning(2)
    expect(begun).toEqual(['/first', '/next'])
    finish.shift()?.()
    expect((await (next as Promise<Reply>)).status).toBe(200)
  })

  test('maxWait ends in a refusal; maxWaiting refuses at once', async () => {
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'queueMicrotask', 'setImmediate'] })
    await listen({ store: store(), concurrent: 1, maxWaiting: 2 })
    void ask('/first')
    await beginning(1)
    const [late] = await inOrder([() => ask('/late')])
    // One client gets another place only while it has fewer than are free.
    const full = await ask('/full')
    expect(full.status).toBe(429)
    jest.advanceTimersByTime(59_000)
    expect(waitersOf(limiter)).toBe(1)
    const ended = () => {
      jest.advanceTimersByTime(1000)
      return waitersOf(limiter) === 0
    }
    await until(ended, { what: 'its wait is over' })
    const refused = (await late) as Reply
    expect(refused.status).toBe(429)
    expect(Number(refused.field('Retry-After'))).toBeGreaterThanOrEqual(1)
    expect(begun).toEqual(['/first'])
  })
})

describe.each(Object.entries(STORES))('windows in %s', (_, store) => {
  test('a request waits until the quota is back', async () => {
    await listen({ store: store(), limit: 1, window: '1s', algorithm: 'sliding-log' })
    const replies = [ask('/1'), ask('/2')]
    await beginning(2)
    for (const each of finish) each()
    const got = await Promise.all(replies)
    expect(got.map(({ status }) => status)).toEqual([200, 200])
  })

  test('a wait that cannot be met is refused at once, with the true Retry-After', async () => {
    const algorithm = 'sliding-log'
    await listen({ store: store(), limit: 1, window: '1h', algorithm, maxWait: '10s' })
    void ask('/1')
    await beginning(1)
    const refused = await ask('/2')
    expect(refused.status).toBe(429)
    expect(Number(refused.field('Retry-After'))).toBeGreaterThan(3500)
  })

  test('also behind others that wait, with the time that they take', async () => {
    const policies = [
      { name: 'new', limit: 9, window: '1h', dryRun: true },
      { name: 'old', limit: 1, window: '8m', algorithm: 'token-bucket' },
    ] as const
    const cost = ({ path }: Request) => (path === '/large' ? 2 : 1)
    const events: unknown[] = []
    const noteEvent = (event: unknown) => void events.push(event)
    subscribe('sluice:decision', noteEvent)
    await listen({ store: store(), policies, cost, maxWait: '10m' })
    void ask('/1')
    await beginning(1)
    await inOrder([() => ask('/2')])
    const refused = await ask('/3')
    expect(refused.status).toBe(429)
    // The one that waits takes what comes back in the first 8 minutes.
    expect(Number(refused.field('Retry-After'))).toBeGreaterThan(900)
    expect((await ask('/large')).status).toBe(429)
    unsubscribe('sluice:decision', noteEvent)
    expect(begun).toEqual(['/1'])
    // One for each request but that which still waits.
    expect(events).toHaveLength(3)
  })

  test('who waits for its own limit holds up nobody at a shared one', async () => {
    await listen({
      store: store(),
      key: undefined,
      policies: [
        { name: 'all', concurrent: 1, key: () => 'all' },
        { name: 'own', limit: 1, window: '5m', algorithm: 'sliding-log' },
      ],
      maxWait: '10m',
    })
    const first = ask('/a-1', { from: '127.0.0.2' })
    await beginning(1)
    // It waits for a slot first, and then for its own quota.
    await inOrder([
      () => ask('/a-2', { from: '127.0.0.2' }),
      () => ask('/b', { from: '127.0.0.3' }),
    ])
    finish.shift()?.()
    await beginning(2)
    expect(begun).toEqual(['/a-1', '/b'])
    expect((await first).status).toBe(200)
  })
})

test('a limiter that closes refuses all who wait', async () => {
  await listen({ concurrent: 1 })
  void ask('/first')
  await beginning(1)
  const [late] = await inOrder([() => ask('/waits')])
  limiter.close()
  expect((await late)?.status).toBe(429)
})

test('an entry of routes has its own wait', async () => {
  await listen({
    concurrent: 1,
    maxWait: undefined,
    routes: { '/slow': { concurrent: 1, maxWait: '1m' } },
  })
  void ask('/fast')
  void ask('/slow')
  await beginning(2)
  expect((await ask('/fast')).status).toBe(429)
  await inOrder([() => ask('/slow')])
  finish[begun.indexOf('/slow')]?.()
  await beginning(3)
  expect(begun.at(-1)).toBe('/slow')
})

test('options that contradict each other are errors', () => {
  const make = (options: object) => () => rateLimit(options as RateLimitOptions)
  expect(make({ limit: 1, window: '1m', priority: 1 })).toThrow(SluiceError)
  const bucket = { limit: 1, window: '1m', algorithm: 'leaky-bucket' }
  expect(make({ ...bucket, maxWait: '1s' })).toThrow(/maxDelay/)
  expect(make({ concurrent: 1, maxWait: 'soon' })).toThrow(SluiceError)
  expect(make({ concurrent: 1, maxWait: '1s', priority: 0.5 })).toThrow(SluiceError)
})
