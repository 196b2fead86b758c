// A paced fetch on the memory store, under a manual clock, in front of functions that answer as servers do.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { memoryStore, WaitError } from '@sluice/core'
import { failingStore } from '@sluice/core/testing'
import { Allowances } from './allowances.ts'
import { limitOutgoing as createFetch, type OutgoingOptions } from './index.ts'
import { OutgoingLimiter } from './outgoing-limiter.ts'

beforeEach(() => void jest.useFakeTimers({ now: Date.UTC(2026, 10, 23, 12) }))
afterEach(() => {
  for (const each of opened.splice(0)) each.close()
  jest.useRealTimers()
})

const opened: { close(): void }[] = []

/** The paced fetch, which is closed after the test. */
const limitOutgoing: typeof createFetch = (fetch, options) => {
  const paced = createFetch(fetch, options)
  opened.push(paced)
  return paced
}

const URL = 'https://api.example/v1'

/** A server that records when each request comes, and answers as given. */
function serverOf(answer: (n: number, request: Request) => Response | Promise<Response>) {
  const start = Date.now()
  const at: number[] = []
  const send = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init)
    request.signal.throwIfAborted()
    at.push(Date.now() - start)
    return answer(at.length, request)
  }
  return { at, send: send as typeof fetch }
}

const ok = () => new Response('{}')
const refusing = (headers: Record<string, string> = {}) =>
  new Response('no', { status: 429, headers })

/** Lets so much time pass, ms, and what happens in it. */
const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms)

/** Sends so many, and tells how each ended, in the order in which they did. */
function sendAll(paced: typeof fetch, count: number, init?: RequestInit): (number | string)[] {
  const ends: (number | string)[] = []
  for (let i = 0; i < count; i += 1) {
    paced(URL, init).then(
      (response) => ends.push(response.status),
      (error) => ends.push(error.code ?? error.name),
    )
  }
  return ends
}

describe('its own policies', () => {
  test('space requests, in the order of their calls', async () => {
    const { at, send } = serverOf(ok)
    const policies = [{ limit: 10, window: '10s', algorithm: 'token-bucket', burst: 1 } as const]
    const paced = limitOutgoing(send, { policies })
    const order: number[] = []
    for (let i = 0; i < 4; i += 1) void paced(URL).then(() => order.push(i))
    await pass(5000)
    expect(order).toEqual([0, 1, 2, 3])
    expect(at.every((ms, i) => ms >= i * 1000)).toBe(true)
    expect(at[3]).toBeLessThan(3500)
  })

  test('a leaky bucket sends each in its turn', async () => {
    const { at, send } = serverOf(ok)
    const policies = [{ limit: 10, window: '10s', algorithm: 'leaky-bucket' } as const]
    const ends = sendAll(limitOutgoing(send, { policies }), 4)
    await pass(5000)
    expect(ends).toEqual([200, 200, 200, 200])
    expect(at.every((ms, i) => ms >= i * 1000)).toBe(true)
  })

  test('a wait longer than maxWait rejects as soon as it is certain', async () => {
    const { at, send } = serverOf(ok)
    const policies = [{ limit: 1, window: '1h', algorithm: 'sliding-log' } as const]
    const ends = sendAll(limitOutgoing(send, { policies, maxWait: '10s' }), 3)
    await pass(1)
    expect(ends.sort()).toEqual([200, 'SLUICE_WAIT_TOO_LONG', 'SLUICE_WAIT_TOO_LONG'])
    expect(at).toHaveLength(1)
  })

  test('a cost above the limit rejects at once, more than maxWaiting too', async () => {
    const { send } = serverOf(ok)
    const policies = [{ unit: 'tokens', limit: 10, window: '1m', cost: 11 } as const]
    const ends = sendAll(limitOutgoing(send, { policies }), 1)
    await pass(1)
    expect(ends).toEqual(['SLUICE_WAIT_NEVER'])
    const full = sendAll(
      limitOutgoing(() => new Promise<Response>(() => {}), { concurrent: 1, maxWaiting: 2 }),
      5,
    )
    await pass(1)
    expect(full.filter((each) => each === 'SLUICE_WAIT_FULL').length).toBeGreaterThanOrEqual(2)
  })

  test('who need not wait takes no place, and shares a call with others', async () => {
    const { at, send } = serverOf(ok)
    const store = failingStore({})
    const policies = [{ limit: 10_000, window: '1m', algorithm: 'fixed-window' } as const]
    const asked: number[] = []
    const open: typeof store.open = (...how) => {
      const ledger = store.open(...how)
      const decide: typeof ledger.decide = (requests, ...others) => {
        for (const _ of requests) asked.push(Date.now())
        return ledger.decide(requests, ...others)
      }
      return { ...ledger, decide }
    }
    const ends = sendAll(
      limitOutgoing(send, { policies, maxWaiting: 2, store: { ...store, open } }),
      300,
    )
    for (let i = 0; i < 20; i += 1) await pass(10)
    expect([ends.length, new Set(ends)]).toEqual([300, new Set([200])])
    expect([at.length, asked.length]).toEqual([300, 300])
    expect(new Set(asked).size).toBeLessThanOrEqual(2)
  })

  test('those that are asked for together take no more than the server has left, and give nothing back', async () => {
    let corrections = 0
    const correct = jest.spyOn(OutgoingLimiter.prototype, 'correct').mockImplementation(() => {
      corrections += 1
    })
    const { at, send } = serverOf(
      (n) =>
        new Response('{}', {
          headers: {
            'ratelimit-limit': '6',
            'ratelimit-remaining': `${6 - n}`,
            'ratelimit-reset': '60',
          },
        }),
    )
    const paced = limitOutgoing(send, {})
    sendAll(paced, 1)
    await pass(10)
    sendAll(paced, 20)
    await pass(1000)
    correct.mockRestore()
    expect([at.length, corrections]).toEqual([6, 0])
  })

  test.each([
    ['another unit', 1],
    ['a unit of a fixed cost too', 500],
  ])('one that is too costly by one unit rejects none that is not: %s', async (_, second) => {
    const terms = { window: '1h', algorithm: 'sliding-log' } as const
    const costOf = (place: number) => (request: { body: unknown }) =>
      Number(String(request.body).split(' ')[place])
    const policies = [
      { ...terms, unit: 'input', limit: 100, cost: costOf(0) },
      { ...terms, unit: 'output', limit: 10_000, cost: second === 1 ? costOf(1) : second },
    ]
    const paced = limitOutgoing(serverOf(ok).send, { policies })
    const calling = (body: string) => sendAll(paced, 1, { method: 'POST', body })
    const first = calling('90 1')
    await pass(100)
    const ends = [first, calling('20 1'), calling('1 50')]
    await pass(100)
    expect(ends).toEqual([[200], ['SLUICE_WAIT_TOO_LONG'], [200]])
  })

  test('an estimate is corrected by what the answer says', async () => {
    const { at, send } = serverOf(() => new Response(JSON.stringify({ used: 2 })))
    const settle = (_: Response, text: string) => JSON.parse(text).used as number
    const policies = [{ unit: 'tokens', limit: 12, window: '1h', cost: 5, settle } as const]
    const paced = limitOutgoing(send, { policies, maxWait: 0 })
    for (let i = 0; i < 3; i += 1) await (await paced(URL)).text()
    await expect(paced(URL)).resolves.toMatchObject({ status: 200 })
    expect(at).toHaveLength(4)
  })

  test.each(['fixed-window', 'sliding-window', 'sliding-log'] as const)(
    'what costs more than its estimate counts from when that is known: %s',
    async (algorithm) => {
      const { send } = serverOf(ok)
      const policies = [
        { unit: 'tokens', limit: 10, window: '10s', algorithm, settle: () => 11 } as const,
      ]
      const paced = limitOutgoing(send, { policies, maxWait: 0 })
      const response = await paced(URL)
      await pass(21_000)
      await response.text()
      const next = sendAll(paced, 1)
      await pass(1)
      expect(next).toEqual(['SLUICE_WAIT_TOO_LONG'])
    },
  )

  test('an answer that claims to have cost too much stops its key for a day at most', async () => {
    const settle = (_: Response, text: string) => Number(text)
    const terms = { window: '1m', algorithm: 'token-bucket', burst: 9000 } as const
    const policies = [{ unit: 'tokens', limit: 3000, ...terms, settle }]
    const { send } = serverOf((n) => new Response(n === 1 ? '7000' : '9007199254740991'))
    const paced = limitOutgoing(send, { policies, maxWait: 0 })
    for (let i = 0; i < 2; i += 1) await (await paced(URL)).text()
    const { retryAfterMs } = await paced(URL).then(
      () => new WaitError('SLUICE_WAIT_CLOSED', 0),
      (error: WaitError) => error,
    )
    expect(retryAfterMs).toBeGreaterThan(86_000_000)
    expect(retryAfterMs).toBeLessThan(86_500_000)
  })

  test('a settle function that throws leaves the estimate, and warns', async () => {
    const warning = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const settle = () => {
      throw new Error('mine')
    }
    const policies = [{ unit: 'tokens', limit: 10, window: '1h', cost: 6, settle } as const]
    const paced = limitOutgoing(serverOf(ok).send, { policies, maxWait: 0 })
    expect(await (await paced(URL)).text()).toBe('{}')
    await expect(paced(URL)).rejects.toBeInstanceOf(WaitError)
    expect(warning).toHaveBeenCalledWith(expect.stringContaining('settle'), expect.anything())
    warning.mockRestore()
  })
})

/** A form of a class that the platform does not know. */
const formOf = (members: object) => ({ ...members, [Symbol.toStringTag]: 'FormData' }) as never

describe('a refusal', () => {
  test('pauses every process of the store until its time, then they restart spread', async () => {
    const store = memoryStore()
    const { at, send } = serverOf((n) => (n === 3 ? refusing({ 'retry-after': '20' }) : ok()))
    const paced = [1, 2, 3, 4].map(() => limitOutgoing(send, { store, retry: { attempts: 1 } }))
    for (const each of paced.slice(0, 3)) await each(URL)
    const ends = paced.map((each) => sendAll(each, 5))
    await pass(19_999)
    expect(at).toHaveLength(3)
    await pass(5000)
    expect(ends.flat()).toEqual(Array(20).fill(200))
    expect(at).toHaveLength(23)
    expect(new Set(at.slice(3)).size).toBeGreaterThan(1)
  })

  test('pauses for its own time, not for that of a costly request', async () => {
    const store = memoryStore()
    const { send } = serverOf((n) => (n === 2 ? refusing({ 'retry-after': '5' }) : ok()))
    const cost = ({ body }: { body: unknown }) => Number(body)
    const policies = [
      { unit: 'tokens', limit: 10, window: '1h', algorithm: 'sliding-log', cost } as const,
    ]
    const [one, other] = [1, 2].map(() => limitOutgoing(send, { store, policies }))
    const ends: unknown[] = []
    for (const [paced, body] of [
      [one, '5'],
      [one, '1'],
      [other, '8'],
      [other, '1'],
    ] as const) {
      ends.push(sendAll(paced as typeof fetch, 1, { method: 'POST', body }))
      await pass(100)
    }
    await pass(6000)
    expect(ends).toEqual([[200], [429], ['SLUICE_WAIT_TOO_LONG'], [200]])
  })

  test('is followed by one request at first, and twice as many each second', async () => {
    const { at, send } = serverOf((n) =>
      n === 1 ? refusing({ 'retry-after': '20' }) : new Promise<Response>(() => {}),
    )
    const paced = limitOutgoing(send, { retry: { attempts: 1 }, maxWait: '1h' })
    await paced(URL)
    void sendAll(paced, 10)
    await pass(20_000 + 950)
    expect(at.length).toBeLessThanOrEqual(1 + 2)
    await pass(10_000)
    expect(at).toHaveLength(11)
  })

  test('in a pause, even a shorter one, lets few begin after it again', async () => {
    const answers: ((response: Response) => void)[] = []
    const { at, send } = serverOf(() => new Promise((resolve) => answers.push(resolve)))
    const paced = limitOutgoing(send, { retry: { attempts: 1 }, maxWait: '1h' })
    void sendAll(paced, 12)
    await pass(0)
    const [first, ...others] = answers.splice(0)
    first?.(refusing({ 'retry-after': '20' }))
    const last = others.pop()
    for (const each of others) each(ok())
    await pass(1)
    last?.(refusing({ 'retry-after': '1' }))
    await pass(1)
    void sendAll(paced, 10)
    await pass(20_000 + 900)
    expect(at.length - 12).toBeGreaterThan(0)
    expect(at.length - 12).toBeLessThanOrEqual(2)
  })

  test('a shorter one does not end a longer one', async () => {
    const store = memoryStore()
    const waits = ['30', '1', '-1', '5']
    const { at, send } = serverOf((n) => refusing({ 'retry-after': waits[n - 1] ?? '1' }))
    const paced = waits.map(() =>
      limitOutgoing(send, { store, retry: { attempts: 1 }, maxWait: '25s' }),
    )
    await Promise.all(paced.map((each) => each(URL)))
    const ends = paced.map((each) => sendAll(each, 1))
    await pass(26_000)
    expect(at).toEqual([0, 0, 0, 0])
    expect(ends.flat()).toEqual(Array(4).fill('SLUICE_WAIT_TOO_LONG'))
  })

  test('that the store can not take pauses this process, and ends none', async () => {
    const memory = memoryStore()
    const block = () => {
      throw new Error('full')
    }
    const open = (...given: Parameters<typeof memory.open>) =>
      Object.assign(memory.open(...given), { block })
    const store = Object.assign(Object.create(memory), { open })
    const unhandled = jest.fn()
    process.once('unhandledRejection', unhandled)
    const { at, send } = serverOf(() => refusing({ 'retry-after': '5' }))
    const paced = limitOutgoing(send, { store, retry: { attempts: 1 } })
    await paced(URL)
    sendAll(paced, 1)
    await pass(4999)
    expect(at).toHaveLength(1)
    jest.useRealTimers()
    await new Promise(setImmediate)
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })

  test('is repeated after its time, before what came later', async () => {
    const { at, send } = serverOf((n) => (n < 3 ? refusing({ 'retry-after-ms': '800' }) : ok()))
    const ends = sendAll(limitOutgoing(send), 1)
    await pass(799)
    expect(at).toHaveLength(1)
    await pass(5000)
    expect(ends).toEqual([200])
    expect(at).toHaveLength(3)
    expect((at[2] as number) - (at[1] as number)).toBeGreaterThanOrEqual(800)
  })

  test('is not repeated if the next turn is within maxWait of the refusal, but not of the call', async () => {
    const full = {
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '4',
    }
    const { at, send } = serverOf(async (n) => {
      if (n > 1) return ok()
      await new Promise((resolve) => setTimeout(resolve, 2000))
      return refusing({ ...full, 'retry-after-ms': '500' })
    })
    const ends = sendAll(limitOutgoing(send, { maxWait: '5s' }), 1)
    await pass(7000)
    expect([ends, at]).toEqual([[429], [0]])
  })

  test('is repeated before those that wait already', async () => {
    const paths: string[] = []
    const { send } = serverOf((n, { url }) => {
      paths.push(url.slice(URL.length))
      return n === 1 ? refusing({ 'retry-after-ms': '800' }) : ok()
    })
    const paced = limitOutgoing(send, { concurrent: 1 })
    for (const path of ['/first', '/second'])
      void paced(URL + path).then((response) => response.text())
    await pass(5000)
    expect(paths).toEqual(['/first', '/first', '/second'])
  })

  test('has used no tokens', async () => {
    const { send } = serverOf((n) => (n === 1 ? refusing({ 'retry-after-ms': '5' }) : ok()))
    const day = { limit: 10, window: '1d', algorithm: 'fixed-window' } as const
    const policies = [{ ...day, unit: 'tokens', cost: 6 }]
    const ends = sendAll(limitOutgoing(send, { policies }), 1)
    await pass(5000)
    expect(ends).toEqual([200])
  })

  test('without a time, waits twice as long after each', async () => {
    const { at, send } = serverOf(() => refusing())
    const ends = sendAll(limitOutgoing(send), 1)
    await pass(10_000)
    expect(ends).toEqual([429])
    expect(at).toHaveLength(3)
    expect(at[1]).toBeGreaterThanOrEqual(1000)
    expect((at[2] as number) - (at[1] as number)).toBeGreaterThanOrEqual(2000)
  })

  test('of many in flight at the same time is one', async () => {
    const { at, send } = serverOf(async (n) => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return n <= 20 ? refusing() : ok()
    })
    const paced = limitOutgoing(send)
    const ends = sendAll(paced, 20, { method: 'POST' })
    await pass(100)
    expect(ends).toEqual(Array(20).fill(429))
    void sendAll(paced, 1)
    await pass(1100)
    expect(at).toHaveLength(21)
  })

  test.each<[string, RequestInit, Record<string, string>, OutgoingOptions, number]>([
    ['a POST is not repeated', { method: 'POST', body: 'a' }, {}, {}, 1],
    [
      'unless the options say so',
      { method: 'post', body: 'a' },
      {},
      { retry: { methods: ['POST'] } },
      3,
    ],
    ['in capitals or not', { method: 'post', body: 'a' }, {}, { retry: { methods: ['post'] } }, 3],
    [
      'or has a key for it',
      { method: 'POST', body: 'a', headers: { 'Idempotency-Key': '1' } },
      {},
      {},
      3,
    ],
    [
      'a stream is not repeated',
      { method: 'PUT', body: new ReadableStream(), duplex: 'half' } as RequestInit,
      {},
      {},
      1,
    ],
    ['bytes are', { method: 'PUT', body: new Uint8Array(3) }, {}, {}, 3],
    ['a form is, of another library too', { method: 'PUT', body: formOf({}) }, {}, {}, 3],
    ['not a form that is a stream', { method: 'PUT', body: formOf({ pipe() {} }) }, {}, {}, 1],
    ['not what the server calls final', {}, { 'x-should-retry': 'false' }, {}, 1],
    ['not what would take longer than maxWait', {}, { 'retry-after': '31' }, {}, 1],
    ['nor what does so with the waits before', {}, { 'retry-after': '16' }, {}, 2],
    ['not beyond its attempts', {}, {}, { retry: { attempts: 2 } }, 2],
  ])('%s', async (_, init, headers, options, sent) => {
    const { at, send } = serverOf(() => refusing(headers))
    const ends = sendAll(limitOutgoing(send, options), 1, init)
    await pass(30_000)
    expect(ends).toEqual([429])
    expect(at).toHaveLength(sent)
  })

  test('of a spend limit is passed on, with its body, and pauses nobody', async () => {
    const body = JSON.stringify({ error: { code: 'insufficient_quota' } })
    const init = { status: 429, headers: { 'content-type': 'application/json' } }
    const { at, send } = serverOf(() => new Response(body, init))
    const paced = limitOutgoing(send)
    expect(await (await paced(URL)).text()).toBe(body)
    expect((await paced(URL)).status).toBe(429)
    expect(at).toEqual([0, 0])
  })

  test('whose body is long is read only at its beginning, and stays whole', async () => {
    const body = JSON.stringify({ error: { code: 'insufficient_quota' }, more: 'x'.repeat(50_000) })
    const init = { status: 429, headers: { 'content-type': 'application/json' } }
    const { at, send } = serverOf(() => new Response(body, init))
    const paced = limitOutgoing(send)
    expect(await (await paced(URL)).text()).toBe(body)
    expect(at).toEqual([0])
  })

  test('of a spend limit of Anthropic, which is 400, is passed on too', async () => {
    const message = 'Your credit balance is too low to access the Anthropic API.'
    const body = JSON.stringify({ error: { type: 'invalid_request_error', message } })
    const { at, send } = serverOf(() => new Response(body, { status: 400 }))
    const paced = limitOutgoing(send)
    expect(await (await paced(URL)).text()).toBe(body)
    expect((await paced(URL)).status).toBe(400)
    expect(at).toEqual([0, 0])
  })

  test('of one host does not stop another', async () => {
    const { send } = serverOf((_, { url }) =>
      url.includes('slow') ? refusing({ 'retry-after': '60' }) : ok(),
    )
    const paced = limitOutgoing(send, { retry: { attempts: 1 } })
    expect((await paced('https://slow.example')).status).toBe(429)
    expect((await paced('https://fast.example')).status).toBe(200)
  })
})

describe('what the server says is left', () => {
  /** A fixed window of ten seconds, which counts all that comes. */
  function fixedWindow(limit: number, latencyMs: number) {
    let window = 0
    let used = 0
    return serverOf(async () => {
      const now = Math.floor(Date.now() / 10_000)
      if (now !== window) [window, used] = [now, 0]
      used += 1
      const fields = {
        'x-ratelimit-limit': `${limit}`,
        'x-ratelimit-remaining': `${Math.max(0, limit - used)}`,
        'x-ratelimit-reset': `${10 - ((Date.now() / 1000) % 10)}`,
      }
      const response = used > limit ? refusing(fields) : new Response('{}', { headers: fields })
      await new Promise((resolve) => setTimeout(resolve, latencyMs))
      return response
    })
  }

  test('is never exceeded by several processes, with requests in flight', async () => {
    const store = memoryStore()
    const { at, send } = fixedWindow(20, 50)
    const paced = [1, 2, 3, 4].map(() => limitOutgoing(send, { store, maxWait: '1h' }))
    for (const each of paced) sendAll(each, 1)
    await pass(100)
    const ends = paced.map((each) => sendAll(each, 24))
    await pass(60_000)
    expect(ends.flat()).toEqual(Array(96).fill(200))
    for (let window = 0; window < 4; window += 1)
      expect(at.filter((ms) => Math.floor(ms / 10_000) === window)).toHaveLength(20)
  })

  test('is less by what was sent before the request that was answered, and once by what was sent since', async () => {
    const left = {
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '3',
      'x-ratelimit-reset': '3600',
    }
    const { at, send } = serverOf(async (n) => {
      await new Promise((resolve) => setTimeout(resolve, n === 1 ? 100 : 3_600_000))
      return new Response('{}', { headers: left })
    })
    const paced = limitOutgoing(send)
    sendAll(paced, 2)
    await pass(200)
    sendAll(paced, 5)
    await pass(1000)
    expect(at).toHaveLength(1 + 3)
  })

  test('is less by what has no answer yet, until an answer has counted it', () => {
    const allowances = new Allowances()
    const said = { id: 'a', unit: 'requests', limit: 10, resetMs: 1000, refills: false }
    const waitMs = (count: number) =>
      allowances.waitMs(() => ({ count, unanswered: 0, cost: 1 }), 0, 0)
    allowances.learn([{ ...said, remaining: 5 }], () => ({ count: 8, unanswered: 3, cost: 1 }), 0)
    expect([waitMs(10), waitMs(11)]).toEqual([0, 1000])
    allowances.learn([{ ...said, remaining: 6 }], () => ({ count: 6, unanswered: 0, cost: 1 }), 0)
    expect([waitMs(11), waitMs(12)]).toEqual([0, 1000])
    allowances.learn([{ ...said, remaining: 4 }], () => ({ count: 7, unanswered: 0, cost: 1 }), 0)
    expect([waitMs(11), waitMs(12)]).toEqual([0, 1000])
  })

  test.each([
    ['what was left of the old one', 5],
    ['one each ten seconds', 0],
  ])('goes on if a new window begins with requests that hang: %s', async (_, left) => {
    const fields = { 'x-ratelimit-remaining': `${left}`, 'x-ratelimit-reset': '1' }
    const { at, send } = serverOf((n) =>
      n === 1 ? new Response('{}', { headers: fields }) : new Promise<Response>(() => {}),
    )
    const paced = limitOutgoing(send)
    await paced(URL)
    await pass(20_000)
    sendAll(paced, 10)
    await pass(9900)
    expect(at).toHaveLength(1 + Math.max(1, left))
    await pass(1000)
    expect(at).toHaveLength(1 + Math.max(1, left) + 1)
  })

  test('one that lies, and grows, is held by the policies', async () => {
    let left = 5
    const { at, send } = serverOf(() => {
      left *= 10
      return new Response('', {
        headers: { 'x-ratelimit-remaining': `${left}`, 'x-ratelimit-reset': '1000000000000' },
      })
    })
    const policies = [{ limit: 5, window: '1m', algorithm: 'sliding-log' } as const]
    sendAll(limitOutgoing(send, { policies }), 50)
    await pass(59_000)
    expect(at).toHaveLength(5)
  })
})

describe('a call', () => {
  test('that is aborted while it waits leaves at once, and charges nothing', async () => {
    const { at, send } = serverOf(ok)
    const policies = [{ limit: 1, window: '10s', algorithm: 'sliding-log' } as const]
    const paced = limitOutgoing(send, { policies, maxWait: '1h' })
    await paced(URL)
    const storm = Array.from({ length: 300 }, () => new AbortController())
    const ends = storm.map(({ signal }) => paced(URL, { signal }).catch((error) => error.message))
    const last = sendAll(paced, 1)
    await pass(1000)
    for (const each of storm) each.abort(new Error('mine'))
    expect(new Set(await Promise.all(ends))).toEqual(new Set(['mine']))
    await pass(10_000)
    expect(last).toEqual([200])
    expect(at).toHaveLength(2)
  })

  test('that is aborted before its turn in a leaky bucket is not waited for', async () => {
    const fields = { 'ratelimit-remaining': '1', 'ratelimit-reset': '3600' }
    const { at, send } = serverOf((n) => new Response('{}', n === 2 ? { headers: fields } : {}))
    const policies = [{ limit: 1, window: '1s', algorithm: 'leaky-bucket' } as const]
    const paced = limitOutgoing(send, { policies })
    const leaving = new AbortController()
    const ends = [sendAll(paced, 1), sendAll(paced, 1, { signal: leaving.signal })]
    await pass(500)
    leaving.abort(new Error('mine'))
    ends.push(sendAll(paced, 2))
    await pass(10_000)
    expect(ends).toEqual([[200], ['Error'], [200, 200]])
    expect(at).toHaveLength(3)
  })

  test.each<[string, (response: Response) => unknown]>([
    ['read to its end', (response) => response.text()],
    ['cancelled', (response) => response.body?.cancel()],
    ['left unread', () => pass(31_000)],
  ])('holds its place until the answer is %s', async (_, finish) => {
    const { at, send } = serverOf(() => new Response('x'.repeat(10)))
    const paced = limitOutgoing(send, { concurrent: 1, maxWait: '2m' })
    const response = await paced(URL)
    const next = sendAll(paced, 1)
    await pass(2000)
    expect(at).toHaveLength(1)
    await finish(response)
    await pass(2000)
    expect(next).toEqual([200])
  })

  test('that fails frees its place', async () => {
    const { at, send } = serverOf((n) =>
      n < 3 ? Promise.reject(new TypeError('fetch failed')) : ok(),
    )
    const paced = limitOutgoing(send, { concurrent: 1 })
    const ends = sendAll(paced, 3)
    await pass(5000)
    expect(ends).toEqual(['TypeError', 'TypeError', 200])
    expect(at).toHaveLength(3)
  })

  test('whose answer can not be read frees its place', async () => {
    const locked = new Response('x')
    locked.body?.getReader()
    const { at, send } = serverOf((n) => (n === 1 ? locked : n === 2 ? (null as never) : ok()))
    const paced = limitOutgoing(send, { concurrent: 1 })
    const ends = sendAll(paced, 3)
    await pass(5000)
    expect(ends).toEqual([200, 'TypeError', 200])
    expect(at).toHaveLength(3)
  })

  test.each<[string, Record<string, string>, number]>([
    ['a second and the first pause', {}, 2000],
    ['nothing beside the pause that its fields state', { 'retry-after': '3' }, 3000],
  ])('a refusal whose body stalls costs %s', async (_, fields, ms) => {
    const stalls = new ReadableStream({ start: (to) => to.enqueue(new Uint8Array([123])) })
    const headers = { 'content-type': 'application/json', ...fields }
    const refusal = new Response(stalls, { status: 429, headers })
    const { at, send } = serverOf((n) => (n === 1 ? refusal : ok()))
    const ends = sendAll(limitOutgoing(send, { concurrent: 1 }), 1)
    await pass(6000)
    expect(ends).toEqual([200])
    expect(at[1]).toBeGreaterThanOrEqual(ms)
    expect(at[1]).toBeLessThan(ms * 1.1)
  })

  test('that the fetch has read, or whose body is of Node, is a refusal like others', async () => {
    const json = { status: 429, headers: { 'content-type': 'application/json' } }
    const used = new Response('{}', json)
    await used.text()
    const ofNode = { ...json, headers: new Headers(json.headers), body: Readable.from(['{}']) }
    const { at, send } = serverOf((n) => (n === 1 ? used : n === 2 ? (ofNode as never) : ok()))
    const ends = sendAll(limitOutgoing(send, { concurrent: 1 }), 1)
    await pass(5000)
    expect(ends).toEqual([200])
    expect(at[1]).toBeGreaterThanOrEqual(1000)
    expect(at[2]).toBeGreaterThanOrEqual(3000)
  })

  test('to a host with the dot of the root has the limits of that host', async () => {
    const policies = [{ limit: 1, window: '1h', algorithm: 'sliding-log' } as const]
    const paced = limitOutgoing(serverOf(ok).send, { policies, maxWait: 0 })
    await paced('https://api.example:8080')
    await expect(paced('https://api.example.:8080')).rejects.toBeInstanceOf(WaitError)
  })

  test('without a key is an error', async () => {
    const paced = limitOutgoing(serverOf(ok).send, { key: () => undefined as never })
    await expect(paced(URL)).rejects.toMatchObject({ code: 'SLUICE_KEY', option: 'key' })
  })

  test('takes a Request, and a signal of it', async () => {
    const { send } = serverOf(async (_, request) => new Response(await request.text()))
    const paced = limitOutgoing(send, { concurrent: 1 })
    const request = new Request(URL, { method: 'POST', body: 'hello' })
    expect(await (await paced(request)).text()).toBe('hello')
    const signal = AbortSignal.abort(new Error('mine'))
    await expect(paced(new Request(URL, { signal }))).rejects.toThrow('mine')
    expect((await paced(new Request(URL, { signal }), { signal: null })).status).toBe(200)
    const withoutReason = Object.assign(new EventTarget(), { aborted: true }) as AbortSignal
    await expect(paced(URL, { signal: withoutReason })).rejects.toBeInstanceOf(WaitError)
  })

  test('is rejected when the fetch is closed', async () => {
    const { send } = serverOf(() => refusing({ 'retry-after': '10' }))
    const paced = limitOutgoing(send, { retry: { attempts: 1 } })
    await paced(URL)
    const ends = sendAll(paced, 2)
    await pass(1)
    paced.close()
    await pass(1)
    expect(ends).toEqual(['SLUICE_WAIT_CLOSED', 'SLUICE_WAIT_CLOSED'])
  })
})

test('a fetch that is closed uses its store no longer, neither for its counts nor for its pauses', async () => {
  const events: unknown[] = []
  const hear = (event: unknown) => void events.push((event as { state: string }).state)
  subscribe('sluice:store', hear)
  const store = failingStore()
  const paced = limitOutgoing(serverOf(ok).send, { store })
  store.fail()
  for (let i = 0; i < 5; i += 1) {
    await paced(URL)
    await pass(1)
  }
  expect(events).toEqual(['down'])
  paced.close()
  unsubscribe('sluice:store', hear)
  expect(events).toEqual(['down', 'closed'])
})

test('what is known of servers is bounded, however many there are', async () => {
  const known = ['name', 'limit', 'window', 'algorithm']
  const limiter = new OutgoingLimiter([], known, undefined, {})
  for (let i = 0; i < 2500; i += 1)
    (await limiter.admit(`host-${i}`, [], 0, undefined, false)).end()
  expect(limiter.upstreams.size).toBe(2000)
  limiter.close()
})

test.each<[string, object, string]>([
  ['an unknown option', { maxwait: 5 }, 'maxwait'],
  [
    'an unknown option of a policy',
    { policies: [{ limit: 1, window: '1s', keys: 1 }] },
    'policies[0].keys',
  ],
  ['a dialect that nobody speaks', { obey: ['azure'] }, 'obey[0]'],
  ['too many at a time', { concurrent: 1001 }, 'concurrent'],
  ['a negative cost', { policies: [{ limit: 1, window: '1s', cost: -1 }] }, 'policies[0].cost'],
  ['no attempt', { retry: { attempts: 0 } }, 'retry.attempts'],
  ['a dialect outside an array', { obey: 'openai' }, 'obey'],
  ['a method outside an array', { retry: { methods: 'GET' } }, 'retry.methods'],
  ['a method that HTTP does not have', { retry: { methods: [1] } }, 'retry.methods[0]'],
  ['retries outside an object', { retry: 3 }, 'retry'],
  ['a policy outside an array', { policies: { limit: 1, window: '1s' } }, 'policies'],
  ['no policy in the array', { policies: [null] }, 'policies[0]'],
  ['a limit outside a policy', { limit: 1, window: '1s' }, 'limit'],
  [
    'a policy that reserves',
    { policies: [{ limit: 1, window: '1s', reserve: true }] },
    'policies[0].reserve',
  ],
  ['a key that is text', { key: 'host' }, 'key'],
])('%s is an error', (_, options, option) => {
  expect(() => limitOutgoing(fetch, options as never)).toThrow(expect.objectContaining({ option }))
})

test('a fetch that is none is an error', () => {
  const error = expect.objectContaining({ code: 'SLUICE_OPTION_TYPE', option: 'fetch' })
  expect(() => limitOutgoing(undefined as never)).toThrow(error)
})
