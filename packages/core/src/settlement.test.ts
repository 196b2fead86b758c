import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { createLimiter } from './limiter.ts'
import type { PolicyLimiter } from './policy-limiter.ts'
import { type MemoryStore, memoryStore } from './stores/memory/memory-store.ts'
import { failingStore, type ManualClock, manualClock } from './testing/index.ts'
import { type PlainOptions, type PlainServer, servePlain } from './testing/plain-server.ts'

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
  await server.stop()
  store.close()
})

type Handler = (request: IncomingMessage, response: ServerResponse) => void

async function serve(options: object, handle: Handler = (_, response) => response.end('done')) {
  const terms = { store, limit: 100, window: '1m', algorithm: 'fixed-window' }
  server = await servePlain([{ ...terms, ...options } as PlainOptions], handle)
}

const limiter = () => server.gates[0]?.base.limiter as PolicyLimiter<'sync'>
const remaining = () => limiter().peek('127.0.0.1').remaining

/** Passes when so many units are left; fails by the time limit of the test if they never are. */
async function untilRemaining(units: number): Promise<void> {
  while (remaining() !== units) await new Promise(setImmediate)
}

/** Long enough for what must not happen to have happened: settling takes two of these turns. */
async function turns(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise(setImmediate)
}

test('on the end of the response, once: what was too much is given back', async () => {
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

test('what was right changes nothing', async () => {
  await serve({ cost: 10, settle: () => 10 })
  await server.send()
  await turns()
  expect(remaining()).toBe(90)
})

describe('the client goes away', () => {
  const abort = async (handle: Handler) => {
    const settle = jest.fn(async () => 4)
    const client = () => connect(server.port, '127.0.0.1').on('error', () => {})
    await serve({ cost: 10, settle }, handle)
    const socket = client()
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    return { settle, socket }
  }

  test('before the response', async () => {
    let arrived = () => {}
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const { settle, socket } = await abort(() => arrived())
    await arrival
    expect(settle).not.toHaveBeenCalled()
    socket.destroy()
    await untilRemaining(96)
    expect(settle).toHaveBeenCalledTimes(1)
  })

  test('during the body', async () => {
    const { settle, socket } = await abort((_, response) => response.writeHead(200).write('part'))
    await new Promise((resolve) => socket.once('data', resolve))
    expect(settle).not.toHaveBeenCalled()
    socket.destroy()
    await untilRemaining(96)
    await turns()
    expect(settle).toHaveBeenCalledTimes(1)
  })
})

test('only into the window that was charged', async () => {
  const open: ServerResponse[] = []
  await serve({ cost: 60, settle: () => 0 }, (_, response) => open.push(response))
  const first = server.send()
  while (open.length < 1) await new Promise(setImmediate)
  clock.advance(60_000)
  limiter().consume('127.0.0.1', { cost: 10 })
  open[0]?.end()
  await first
  await turns()
  expect(remaining()).toBe(90)
  const second = server.send()
  while (open.length < 2) await new Promise(setImmediate)
  expect(remaining()).toBe(30)
  open[1]?.end()
  await second
  await untilRemaining(90)
})

describe('where the cost cannot be had, the estimate stands', () => {
  const fail = () => {
    throw new Error('no')
  }
  test.each<[string, () => unknown]>([
    ['NaN', () => Number.NaN],
    ["'5'", () => '5'],
    ['-1', () => -1],
    ['1.5', () => 1.5],
    ['Infinity', () => Infinity],
    ['more than any limit', () => 1e12 + 1],
    ['undefined', () => undefined],
    ['null', () => null],
    ['an error', fail],
    ['a rejection', async () => fail()],
    ['NaN, later', async () => Number.NaN],
  ])('%s', async (_, settle) => {
    const called = jest.fn(settle)
    await serve({ cost: 10, settle: called })
    await server.send()
    while (called.mock.calls.length === 0) await new Promise(setImmediate)
    await turns()
    expect(remaining()).toBe(90)
    // Told by the first of these tests; once is enough for a process.
    expect(codes).toEqual(['SLUICE_SETTLE'])
  })
})

test('by whoever admitted it: what this process has admitted alone, the store is not given back', async () => {
  const remote = failingStore({ clock })
  const settle = jest.fn(() => 0)
  const terms = { store: remote, limit: 100, window: '1m', algorithm: 'fixed-window' } as const
  const open: ServerResponse[] = []
  server = await servePlain([{ ...terms, cost: 10, settle }], (_, response) => open.push(response))
  const outside = createLimiter(terms)
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
  expect(await outside.peek('127.0.0.1')).toMatchObject({ source: 'local', remaining: 80 })
  remote.close()
})

describe('what was not charged is not settled', () => {
  test('a request that is refused', async () => {
    const settle = jest.fn(() => 0)
    await serve({ limit: 5, cost: () => 6, settle })
    expect((await server.send()).status).toBe(429)
    await turns()
    expect(settle).not.toHaveBeenCalled()
    expect(remaining()).toBe(5)
  })

  test('one that a dry run would refuse; one that it admits is settled as ever', async () => {
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
  const terms = { limit: 100, window: '1m', algorithm: 'fixed-window' }
  const none = { limit: undefined, window: undefined, algorithm: undefined }

  async function untilLeft(...units: number[]): Promise<void> {
    while (left().join() !== units.join()) await new Promise(setImmediate)
  }

  test('each settles by its own function, one with a cost of its own not by the common one', async () => {
    await serve({
      ...none,
      cost: 10,
      settle: () => 2,
      policies: [
        { ...terms, name: 'common' },
        { ...terms, name: 'own cost', cost: 20 },
        { ...terms, name: 'own both', cost: 30, settle: async () => 50 },
        { ...terms, name: 'own settle', settle: () => 0 },
      ],
    })
    await server.send()
    await untilLeft(98, 80, 50, 100)
  })

  test('a function that serves several is called once', async () => {
    const settle = jest.fn(() => 2)
    const policies = ['a', 'b', 'c'].map((name) => ({ ...terms, name }))
    await serve({ ...none, cost: 10, settle, policies })
    await server.send()
    await untilLeft(98, 98, 98)
    expect(settle).toHaveBeenCalledTimes(1)
  })

  test('one that fails leaves all estimates', async () => {
    const settle = jest.fn(() => Number.NaN)
    const policies = [
      { ...terms, name: 'a', settle: () => 2 },
      { ...terms, name: 'b', settle },
    ]
    await serve({ ...none, cost: 10, policies })
    await server.send()
    while (settle.mock.calls.length === 0) await new Promise(setImmediate)
    await turns()
    expect(left()).toEqual([90, 90])
  })
})
