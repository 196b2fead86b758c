import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { createLimiter, type Limiter, type MemoryStore, memoryStore } from '@sluice/core'
import { failingStore, type ManualClock, manualClock } from '@sluice/core/testing'
import type { HttpLimiter } from '../path/http-limiter.ts'
import { type PlainOptions, type PlainServer, servePlain } from '../testing/plain-server.ts'

const codes: string[] = []
jest.spyOn(process, 'emitWarning').mockImplementation(((_: string, { code }: { code: string }) => {
  codes.push(code)
}) as typeof process.emitWarning)

let clock: ManualClock
let store: MemoryStore
let server: PlainServer

beforeEach(() => {
  clock = manualClock()
  store = memoryStore({ clock })
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.stop()
  store.close()
})

const sockets: Socket[] = []

/** A client that does not read: nothing but the end of its test closes its socket. */
function connected(text: string): Socket {
  const socket = connect(server.port, '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  socket.write(text)
  return socket
}

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

async function serve(options: object, handle: Handler = (_, response) => response.end('done')) {
  const defaults = { store, limit: 100, window: '1m', algorithm: 'fixed-window' }
  server = await servePlain([{ ...defaults, ...options } as PlainOptions], handle)
}

const limiter = () => server.httpLimiters[0]?.base.limiter as Limiter<'sync'>
const remaining = () => limiter().peek('127.0.0.1').remaining

/** Passes when so many units are left; fails by the time limit of the test if they never are. */
async function untilRemaining(units: number): Promise<void> {
  while (remaining() !== units) await new Promise(setImmediate)
}

/** Long enough for anything that must not happen: settling takes two of these turns. */
async function turns(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise(setImmediate)
}

test('at the end of the response, once: what was too much is given back', async () => {
  const settle = jest.fn((_request: IncomingMessage, _response: ServerResponse) => 3)
  await serve({ cost: 10, settle }, (_, response) => {
    expect(remaining()).toBe(90)
    response.end('done')
  })
  await server.send()
  await untilRemaining(97)
  await turns()
  expect(settle).toHaveBeenCalledTimes(1)
  expect(settle).toHaveBeenCalledWith(
    expect.objectContaining({ url: '/' }),
    expect.objectContaining({ statusCode: 200, writableFinished: true }),
  )
})

test('what was too little is charged, into a debt that ends with the window', async () => {
  await serve({ cost: 10, settle: () => 250 })
  await server.send()
  while (limiter().peek('127.0.0.1').allowed) await new Promise(setImmediate)
  limiter().settle('127.0.0.1', -149)
  expect(remaining()).toBe(0)
  limiter().settle('127.0.0.1', -2)
  expect(remaining()).toBe(1)
  clock.advance(60_000)
  expect(remaining()).toBe(100)
})

describe('the client goes away', () => {
  /** What `settle` gives. */
  let cost: number
  let settle: ReturnType<typeof jest.fn>
  let response: ServerResponse

  /** Sends a request and leaves, once the handler has begun. */
  async function leave(handle: Handler = () => {}, options: object = {}): Promise<void> {
    settle = jest.fn(async () => cost)
    const closed = new Promise<void>((resolve) => {
      const begin: Handler = (request, given) => {
        response = given
        handle(request, given)
        socket.destroy()
        given.once('close', resolve)
      }
      void serve({ cost: 10, settle, ...options }, begin).then(() => {
        socket = connected(GET)
      })
    })
    let socket: Socket
    await closed
    await turns()
  }

  test('before the response: the estimate remains until the application ends it', async () => {
    cost = 4
    await leave()
    expect(remaining()).toBe(90)
    response.end('too late')
    await untilRemaining(96)
    await turns()
    expect(remaining()).toBe(96)
  })

  test('what it has cost so far beyond the estimate is charged, and once', async () => {
    cost = 15
    await leave()
    expect(remaining()).toBe(85)
    cost = 25
    response.end()
    await untilRemaining(75)
    response.end()
    await turns()
    expect(remaining()).toBe(75)
  })

  test('what was charged meanwhile is not given back, the estimate is', async () => {
    cost = 15
    await leave()
    cost = 0
    response.end()
    await untilRemaining(95)
  })

  test('an end that middleware replaced and never passes on still counts', async () => {
    cost = 4
    await leave((_, given) => {
      Object.assign(given, { end: () => given })
    })
    expect(remaining()).toBe(90)
    response.end()
    await untilRemaining(96)
  })

  test('a response that the application destroys keeps its error', async () => {
    const error = new Error('the source has failed')
    await leave((_, given) => given.destroy(error))
    expect(response.errored).toBe(error)
  })

  test('no timer holds its request', async () => {
    cost = 11
    await leave(() => {}, { window: '100ms', algorithm: 'token-bucket' })
    const { calls } = settle.mock
    const asked = calls.length
    await new Promise((resolve) => setTimeout(resolve, 250))
    expect(calls).toHaveLength(asked)
  })
})

describe('a response that takes long', () => {
  /** The first response is open, and others wait behind it on the connection. */
  async function open(count: number, options: object): Promise<ServerResponse[]> {
    const responses: ServerResponse[] = []
    await serve(options, (_, response) => responses.push(response))
    connected(GET.repeat(count))
    while (responses.length < count) await new Promise(setImmediate)
    return responses
  }

  test('pays once per window for what it has cost so far, and at the end for the rest', async () => {
    let cost = 10
    const settle = jest.fn(() => cost)
    const [response] = await open(1, { cost: 10, settle, window: '100ms' })
    expect(remaining()).toBe(90)
    cost = 30
    await untilRemaining(70)
    cost = 50
    await untilRemaining(50)
    cost = 20
    while (settle.mock.calls.length < 4) await new Promise(setImmediate)
    expect(remaining()).toBe(50)
    cost = 55
    response?.end()
    await untilRemaining(45)
    const asked = settle.mock.calls.length
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(settle).toHaveBeenCalledTimes(asked)
  })

  test('that begins late in a window pays for the first time before that ends', async () => {
    let cost = 10
    clock.advance(86_399_900 - (clock() % 86_400_000))
    await open(1, { cost: 10, settle: () => cost, window: '1d' })
    cost = 30
    await untilRemaining(70)
  })

  test('ended behind another: charged immediately, given back once it is sent', async () => {
    const cost = new Map<ServerResponse, number>()
    const settle = (_: unknown, response: ServerResponse) => cost.get(response)
    const [first, second, third] = (await open(3, { cost: 10, settle })) as [
      ServerResponse,
      ServerResponse,
      ServerResponse,
    ]
    expect(remaining()).toBe(70)
    cost.set(second, 15).set(third, 0)
    second.end()
    third.end()
    await untilRemaining(65)
    await turns()
    expect(remaining()).toBe(65)
    first.end()
    await untilRemaining(75)
  })

  test('of a client that never reads: settled once it has been ended', async () => {
    const [response] = await open(1, { cost: 10, settle: () => 3 })
    response?.end(Buffer.alloc(20_000_000))
    await untilRemaining(97)
    expect(response?.writableFinished).toBe(false)
  })

  test('a body that is compressed after the end: given back once it has been sent', async () => {
    const [response] = (await open(1, { cost: 10, settle: () => 3 })) as [ServerResponse]
    const end = response.end
    let compressed = () => {}
    Object.assign(response, {
      end(text: string) {
        compressed = () => end.call(response, text.slice(1), 'utf8')
        return response
      },
    })
    response.end('done')
    await turns()
    expect(remaining()).toBe(90)
    compressed()
    await untilRemaining(97)
  })

  test('ended before the limiter: settled immediately', async () => {
    await serve({ cost: 10, settle: (_: unknown, { statusCode }: ServerResponse) => statusCode })
    const httpLimiter = server.httpLimiters[0]?.base as HttpLimiter<IncomingMessage, ServerResponse>
    const ended = createServer((request, response) => {
      response.writeHead(200).end('done')
      void httpLimiter.handle(request, response)
    })
    await new Promise<void>((resolve) => ended.listen(0, '127.0.0.1', resolve))
    await fetch(`http://127.0.0.1:${(ended.address() as AddressInfo).port}`)
    limiter().settle('127.0.0.1', -190)
    await untilRemaining(90)
    ended.closeAllConnections()
    ended.close()
  })
})

describe('if the cost is not available, the estimate remains', () => {
  const fail = () => {
    throw new Error('no')
  }
  const throwing = (thrown: unknown) => () => {
    throw thrown
  }
  test.each<[string, () => unknown]>([
    ['NaN', () => Number.NaN],
    ["'5'", () => '5'],
    ['-1', () => -1],
    ['1.5', () => 1.5],
    ['Infinity', () => Infinity],
    ['more than any limit', () => 2 ** 53],
    ['null', () => null],
    ['an error', fail],
    ['a rejection', async () => fail()],
    ['NaN, later', async () => Number.NaN],
    ['an object without a prototype', throwing(Object.create(null))],
    ['a rejection with one', async () => throwing(Object.create(null))()],
    ['what fails to become text', throwing({ toString: fail, [Symbol.toPrimitive]: fail })],
  ])('%s', async (_, settle) => {
    const called = jest.fn(settle)
    await serve({ cost: 10, settle: called })
    await server.send()
    while (called.mock.calls.length === 0) await new Promise(setImmediate)
    await turns()
    expect(remaining()).toBe(90)
    // The first of these tests causes the warning, which comes once per process.
    expect(codes).toEqual(['SLUICE_SETTLE'])
  })
})

test.each([
  ['given back', 0],
  ['charged', 30],
])(
  'where it was admitted: what this process has admitted alone is not %s in the store',
  async (_, cost) => {
    const remote = failingStore({ clock })
    const settle = jest.fn(() => cost)
    const defaults = { store: remote, limit: 100, window: '1m', algorithm: 'fixed-window' } as const
    const open: ServerResponse[] = []
    server = await servePlain([{ ...defaults, cost: 10, settle }], (_, response) =>
      open.push(response),
    )
    const outside = createLimiter(defaults)
    await outside.consume('127.0.0.1', { cost: 20 })
    remote.fail()
    const sent = server.send()
    while (open.length === 0) await new Promise(setImmediate)
    remote.recover()
    open[0]?.end()
    await sent
    await turns()
    expect(settle).toHaveBeenCalledTimes(1)
    expect(await outside.peek('127.0.0.1')).toMatchObject({ source: 'store', remaining: 80 })
    remote.fail()
    const remaining = 80 - cost
    expect(await outside.peek('127.0.0.1')).toMatchObject({ source: 'local', remaining })
    remote.close()
  },
)

describe('what was not charged is not settled', () => {
  test('one that a dry run would refuse; one that it admits is settled as usual', async () => {
    const settle = jest.fn(() => 1)
    await serve({ limit: 10, cost: 6, settle, dryRun: true })
    await server.send()
    await untilRemaining(9)
    limiter().consume('127.0.0.1', { cost: 8 })
    expect((await server.send()).status).toBe(200)
    await turns()
    expect(settle).toHaveBeenCalledTimes(1)
    expect(remaining()).toBe(1)
  })

  test.each<[string, object]>([
    ['exempt by skip', { skip: () => true }],
    ['on the allow list', { allow: ['127.0.0.1'] }],
    ['exempt by route', { routes: { '/': false } }],
  ])('one that is %s', async (_, options) => {
    const settle = jest.fn(() => 1)
    await serve({ settle, ...options })
    await server.send()
    await turns()
    expect(settle).not.toHaveBeenCalled()
    expect(remaining()).toBe(100)
  })
})

describe('several policies', () => {
  const left = () =>
    limiter()
      .peek('127.0.0.1')
      .policies.map((each) => each.remaining)
  const defaults = { limit: 100, window: '1m', algorithm: 'fixed-window' }
  const none = { limit: undefined, window: undefined, algorithm: undefined }

  async function untilLeft(...units: number[]): Promise<void> {
    while (left().join() !== units.join()) await new Promise(setImmediate)
  }

  test('each settles by its own function, one with its own cost not by the common one', async () => {
    await serve({
      ...none,
      cost: 10,
      settle: () => 2,
      policies: [
        { ...defaults, name: 'common' },
        { ...defaults, name: 'own cost', cost: 20 },
        { ...defaults, name: 'own both', cost: 30, settle: async () => 50 },
        { ...defaults, name: 'own settle', settle: () => 0 },
      ],
    })
    await server.send()
    await untilLeft(98, 80, 50, 100)
  })

  test('slots beside a common function are free at the end, and no others', async () => {
    const policies = [
      { name: 'slots', concurrent: 3 },
      { ...defaults, name: 'units' },
    ]
    await serve({ ...none, cost: 2, settle: () => 5, policies })
    for (const units of [95, 90]) {
      await server.send()
      await untilLeft(3, units)
      await turns()
      expect(left()).toEqual([3, units])
    }
  })

  test('a function that serves several is called once', async () => {
    const settle = jest.fn(() => 2)
    const policies = ['a', 'b', 'c'].map((name) => ({ ...defaults, name }))
    await serve({ ...none, cost: 10, settle, policies })
    await server.send()
    await untilLeft(98, 98, 98)
    expect(settle).toHaveBeenCalledTimes(1)
  })

  test.each<[string, (() => unknown)[], number[]]>([
    ['one that fails leaves its own estimate', [() => 2, () => Number.NaN], [98, 90]],
    ['one that gives undefined keeps its estimate', [() => undefined, async () => 0], [90, 100]],
  ])('%s', async (_, functions, expected) => {
    const policies = functions.map((settle, i) => ({ ...defaults, name: `${i}`, settle }))
    await serve({ ...none, cost: 10, policies })
    await server.send()
    await untilLeft(...expected)
    await turns()
    expect(left()).toEqual(expected)
  })
})
