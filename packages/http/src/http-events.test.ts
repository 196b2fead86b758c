import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import {
  type DecisionEvent,
  memoryStore,
  type SettleEvent,
  type ThresholdEvent,
  type WaitTrace,
} from '@sluice/core'
import { failingStore, manualClock } from '@sluice/core/testing'
import { type Heard, listen } from '../../core/src/testing/listen.ts'
import { type PlainOptions, type PlainServer, plain, servePlain } from './testing/plain-server.ts'

const DAY = { limit: 1, window: '1d', algorithm: 'fixed-window' } as const

let heard: Heard<unknown>[]
let server: PlainServer
let running: ServerResponse[]

beforeEach(() => {
  heard = []
  running = []
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
})
afterEach(async () => {
  for (const each of heard) each.stop()
  jest.restoreAllMocks()
  await server.stop()
})

function hear<T>(...names: string[]): readonly T[] {
  const each = listen<T>(...names)
  heard.push(each)
  return each.events
}

const end = (_: IncomingMessage, response: ServerResponse) => response.end('done')
const keep = (_: IncomingMessage, response: ServerResponse) => running.push(response)

async function serve(
  options: object,
  handle: (request: IncomingMessage, response: ServerResponse) => void = end,
) {
  server = await servePlain([{ ...DAY, store: memoryStore(), ...options } as PlainOptions], handle)
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate)
}

describe('sluice:threshold', () => {
  const reached = ({ threshold, used }: ThresholdEvent) => [threshold, used]

  test('is caused by requests, and by what they turn out to cost, with the route', async () => {
    const events = hear<ThresholdEvent>('sluice:threshold')
    const routes = { '/jobs': { limit: 10, window: '1d', cost: 3, settle: () => 5 } }
    await serve({ routes, alertAt: [0.3, 0.5, 1], limit: 100 })
    await server.send('GET', '/jobs')
    await until(() => events.length === 2)
    expect(events.map((event) => [event.key, event.route, ...reached(event)])).toEqual([
      ['127.0.0.1', '/jobs', 0.3, 3],
      ['127.0.0.1', '/jobs', 0.5, 5],
    ])
  })

  test('of a client that hangs up with the request that reaches it, once', async () => {
    const events = hear<ThresholdEvent>('sluice:threshold')
    const settled = hear<SettleEvent>('sluice:settle')
    await serve({ limit: 10, cost: 8, settle: () => 8, alertAt: [0.8] }, keep)
    const socket = connect(server.port, '127.0.0.1', () => {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    })
    await until(() => running.length === 1)
    const closed = new Promise((resolve) => running[0]?.once('close', resolve))
    socket.destroy()
    await closed
    running[0]?.end()
    for (let i = 0; i < 20; i += 1) await new Promise(setImmediate)
    expect(events.map(reached)).toEqual([[0.8, 8]])
    expect(settled).toEqual([])
  })

  test('is not caused by a request that finds no turn in a queue', async () => {
    const events = hear<ThresholdEvent>('sluice:threshold')
    const queue = { algorithm: 'leaky-bucket', limit: 2, window: '1d', maxDelay: '1d' }
    await serve({ ...queue, maxWaiting: 0, alertAt: [0.6, 1] })
    expect((await server.send()).status).toBe(200)
    expect((await server.send()).status).toBe(429)
    expect(events).toEqual([])
  })

  test('of a dry run ends with its limit', async () => {
    const events = hear<ThresholdEvent>('sluice:threshold')
    await serve({ dryRun: true, limit: 2, alertAt: [0.5, 1] })
    for (let i = 0; i < 5; i += 1) expect((await server.send()).status).toBe(200)
    expect(events.map(reached)).toEqual([
      [0.5, 1],
      [1, 2],
    ])
  })
})

describe('sluice:decision', () => {
  const told = ({ result, source, policy }: DecisionEvent) => [result, source, policy]

  test.each<[string, object, (string | undefined)[][]]>([
    [
      'admitted, then refused',
      {},
      [
        ['admitted', 'store', 'default'],
        ['refused', 'store', 'default'],
      ],
    ],
    [
      'a dry run',
      { dryRun: true },
      [
        ['admitted', 'store', 'default'],
        ['would_refuse', 'store', 'default'],
      ],
    ],
    ["respond: 'continue'", { limit: 0, respond: 'continue' }, [['refused', 'store', 'default']]],
    ['skip', { skip: () => true }, [['skipped', 'skip', undefined]]],
    ['skip, later', { skip: async () => true }, [['skipped', 'skip', undefined]]],
    ['allow', { allow: ['127.0.0.1'] }, [['skipped', 'list', undefined]]],
    ['deny', { deny: ['127.0.0.1'] }, [['refused', 'list', undefined]]],
    [
      'deny, in a dry run',
      { deny: ['127.0.0.1'], dryRun: true },
      [['would_refuse', 'list', undefined]],
    ],
    ['an exempt route', { routes: { '/': false } }, []],
  ])('%s', async (_, options, expected) => {
    const events = hear<DecisionEvent>('sluice:decision')
    await serve(options)
    for (let i = 0; i < expected.length || i < 1; i += 1) await server.send()
    expect(events.slice(0, 2).map(told)).toEqual(expected)
  })

  test('of a dry run says so of each of its policies', async () => {
    const events = hear<DecisionEvent>('sluice:decision')
    const policies = [
      { name: 'each', ...DAY },
      { name: 'all', ...DAY, dryRun: false },
    ]
    server = await servePlain([{ policies, dryRun: true }], end)
    await server.send()
    expect(events[0]?.policies).toMatchObject([{ dryRun: true }, { dryRun: true }])
  })

  test.each<[string, object, string]>([
    ['', {}, 'skipped'],
    [', of a client on the list deny', { deny: ['127.0.0.1'] }, 'refused'],
    [', of a client on no list', { deny: ['192.0.2.1'] }, 'skipped'],
    [', whose key is not known', { deny: ['key:a'], key: () => Promise.reject() }, 'skipped'],
  ])('a preflight%s', async (_, options, result) => {
    const events = hear<DecisionEvent>('sluice:decision')
    await serve(options)
    await fetch(`http://127.0.0.1:${server.port}/`, {
      method: 'OPTIONS',
      headers: { origin: 'https://a.example', 'access-control-request-method': 'PUT' },
    })
    const source = result === 'refused' ? 'list' : 'preflight'
    expect(events.map(told)).toEqual([[result, source, undefined]])
  })

  test.each([undefined, '1m'])(
    'without the store: who decided, with maxWait: %s',
    async (maxWait) => {
      const events = hear<DecisionEvent>('sluice:decision')
      const store = failingStore()
      store.fail()
      await serve({ store, onStoreError: 'deny', maxWait })
      expect((await server.send()).status).toBe(503)
      expect(events.map(told)).toEqual([['refused', 'deny', undefined]])
    },
  )

  test('a refusal has the HMAC of the key that was refused', async () => {
    const events = hear<DecisionEvent>('sluice:decision')
    const keySecret = 'a secret of the tests'
    const policies = [
      { name: 'own', ...DAY, limit: 9, key: () => 'ada' },
      { name: 'all', ...DAY, key: () => 'acme' },
    ]
    server = await servePlain([{ policies, keySecret }], end)
    await server.send()
    await server.send()
    const hash = createHmac('sha256', keySecret).update('key:acme').digest('base64url')
    expect(events.map(({ keyHash }) => keyHash)).toEqual([undefined, hash])
  })

  test('a request that finds no place to wait in is refused, uncharged', async () => {
    const events = hear<DecisionEvent>('sluice:decision')
    const settled = hear<SettleEvent>('sluice:settle')
    const waiting = { algorithm: 'leaky-bucket', maxDelay: '5d', maxWaiting: 0 }
    await serve(waiting)
    await server.send()
    await server.send()
    expect(events.map(told)).toEqual([
      ['admitted', 'store', 'default'],
      ['refused', 'store', 'default'],
    ])
    expect(events[1]?.policies[0]?.charged).toBe(0)
    expect(settled).toEqual([])
  })

  test('a request of a dry run needs no place to wait in, and is charged', async () => {
    const events = hear<DecisionEvent>('sluice:decision')
    await serve({ algorithm: 'leaky-bucket', maxDelay: '5d', maxWaiting: 0, dryRun: true })
    await server.send()
    await server.send()
    expect(events.map(({ result, policies }) => [result, policies[0]?.charged])).toEqual([
      ['admitted', 1],
      ['admitted', 1],
    ])
  })
})

describe('the route', () => {
  const RAW = '/secret-path/203.0.113.9?token=1'

  test('is the pattern that the adapter gives, else that of the entry in routes', async () => {
    const events = hear<DecisionEvent>('sluice:decision')
    const route = jest.spyOn(plain, 'route' as never) as jest.SpiedFunction<() => unknown>
    route
      .mockReturnValueOnce('/:page')
      .mockReturnValueOnce([/^\/a/, '/b'])
      .mockReturnValue(undefined)
    await serve({ routes: { 'GET /files/*path': { limit: 5 } } })
    await server.send('GET', '/files/a')
    await server.send()
    await server.send('GET', '/files/a/b')
    await server.send('GET', RAW)
    expect(events.map((event) => event.route)).toEqual([
      '/:page',
      '/^\\/a/,/b',
      '/files/*path',
      undefined,
    ])
  })

  test('is not read where nobody listens', async () => {
    const route = jest.spyOn(plain, 'route' as never) as jest.SpiedFunction<() => unknown>
    const concurrent = { name: 'in-flight', concurrent: 5 }
    const queue = { name: 'queue', limit: 9, window: '1s', algorithm: 'leaky-bucket' }
    const none = { limit: undefined, window: undefined, algorithm: undefined }
    await serve({ ...none, policies: [concurrent, { ...queue, settle: () => 0 }] })
    await server.send()
    await server.send()
    expect(route).not.toHaveBeenCalled()
    const stop = listen('sluice:decision').stop
    await server.send()
    expect(route).toHaveBeenCalledTimes(1)
    stop()
  })

  test('no event has the path, the address or a header of the client', async () => {
    const steps = ['start', 'end', 'asyncStart', 'asyncEnd', 'error']
    const traces = ['consume', 'wait'].flatMap((name) =>
      steps.map((step) => `tracing:sluice:${name}:${step}`),
    )
    const kinds = ['decision', 'settle', 'store', 'ban'].map((kind) => `sluice:${kind}`)
    const events = hear(...kinds, ...traces)
    const settled = hear('sluice:settle')
    const policies = [
      { name: 'queue', limit: 1, window: '50ms', algorithm: 'leaky-bucket', settle: () => 0 },
      { name: 'in-flight', concurrent: 1 },
    ]
    const none = { limit: undefined, window: undefined, algorithm: undefined }
    await serve({ ...none, policies, key: ({ url }: IncomingMessage) => url })
    for (let i = 0; i < 3; i += 1) await server.send('GET', RAW)
    // Each request publishes its cost and its slot.
    await until(() => settled.length === 6)
    const text = inspect(events, { depth: null, maxArrayLength: null })
    for (const secret of ['secret-path', '203.0.113.9', '127.0.0.1', 'token'])
      expect(text).not.toContain(secret)
  })
})

describe('sluice:settle', () => {
  test('the cost of a request', async () => {
    const events = hear<SettleEvent>('sluice:settle')
    await serve({ limit: 100, cost: 10, settle: () => 3, routes: { '/': {} }, name: 'api' })
    await server.send()
    await until(() => events.length > 0)
    expect(events).toEqual([
      {
        limiter: 'api',
        route: '/',
        reason: 'cost',
        policies: [{ name: 'default', unit: 'requests', units: -7 }],
        errorType: undefined,
      },
    ])
  })

  const slots = { limit: undefined, window: undefined, algorithm: undefined, concurrent: 5 }

  test('a request in progress that ends', async () => {
    const events = hear<SettleEvent>('sluice:settle')
    await serve(slots, keep)
    const sent = server.send()
    await until(() => running.length === 1)
    expect(events).toEqual([])
    running[0]?.end()
    await sent
    expect(events.map(({ reason }) => reason)).toEqual(['released'])
  })

  test('a request whose client left is published once, and not again when it ends', async () => {
    const events = hear<SettleEvent>('sluice:settle')
    await serve(slots, keep)
    const socket = connect(server.port, '127.0.0.1').on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => running.length === 1)
    socket.destroy()
    await until(() => events.length > 0)
    expect(events.map(({ reason }) => reason)).toEqual(['abandoned'])
    running[0]?.end()
    expect(events).toHaveLength(1)
  })
})

describe('tracing:sluice:wait', () => {
  const queue = { limit: 1, window: '1h', algorithm: 'leaky-bucket', maxDelay: '5h', name: 'api' }

  test('begins when a request begins to wait, and ends when its client leaves', async () => {
    const begun = hear<WaitTrace>('tracing:sluice:wait:start')
    const ended = hear<WaitTrace>('tracing:sluice:wait:asyncEnd')
    await serve(queue)
    await server.send()
    expect(begun).toEqual([])
    const socket = connect(server.port, '127.0.0.1').on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => begun.length === 1)
    expect(ended).toEqual([])
    socket.destroy()
    await until(() => ended.length === 1)
    expect(ended[0]).toBe(begun[0])
    const delayMs = expect.any(Number)
    const about = { limiter: 'api', route: undefined, policy: 'default' }
    expect(begun[0]).toEqual({ ...about, delayMs, result: false })
    expect(begun[0]?.delayMs).toBeGreaterThan(3_000_000)
  })

  // Node's promise of a trace is none of the realm that Jest runs tests in.
  test.each([
    ['', undefined, undefined],
    [' of a route', { '/jobs': { cost: 1 } }, '/jobs'],
  ])('ends when the turn%s comes', async (_, routes, route) => {
    const ended = hear<WaitTrace>('tracing:sluice:wait:asyncEnd')
    const store = memoryStore({ clock: manualClock() })
    await serve({ ...queue, store, window: '50ms', maxDelay: '1s', routes })
    await Promise.all([server.send('GET', '/jobs'), server.send('GET', '/jobs')])
    expect(ended.map((each) => [each.result, each.route])).toEqual([[true, route]])
  })
})
