// A paced fetch in front of real servers, over sockets, with a real Redis, and as the fetch of real clients.

import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import { afterEach, describe, expect, test } from '@jest/globals'
import { redisStore, WaitError } from '@sluice/core'
import { useRedis } from '@sluice/test-harness/jest'
import { bundle, startBundle } from '@sluice/test-harness/processes'
import { until } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import OpenAI from 'openai'
import { fetch as fetchOfUndici, H2CClient } from 'undici'
import { limitOutgoing, type OutgoingOptions } from './index.ts'

const redis = useRedis()
const servers: Server[] = []
const clients: Redis[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function connect(options: object = {}): Redis {
  const client = new Redis({ port: redis.client.options.port as number, ...options })
  client.on('error', () => {})
  clients.push(client)
  return client
}

test('a refusal of one process pauses another one, over Redis', async () => {
  let refused = Infinity
  const early: number[] = []
  const url = await serve((_, response) => {
    const now = performance.now()
    if (now < refused + 400) early.push(now)
    if (refused === Infinity) {
      refused = now
      response.writeHead(429, { 'retry-after-ms': '400' })
    }
    response.end('{}')
  })
  const open = () =>
    limitOutgoing(fetch, {
      store: connect(),
      key: () => 'pause',
      retry: { attempts: 1 },
      // A busy machine must not make a process decide by itself.
      deadline: '1m',
    })
  const [one, other] = [open(), open()]
  await one(url)
  early.length = 0
  const isKnown = async () => {
    for await (const { blockedMs } of redisStore(redis.client).inspect({ prefix: 'outgoing' }))
      if (blockedMs > 0) return true
    return false
  }
  const hasPassed = () => performance.now() > refused + 400
  await until(async () => hasPassed() || (await isKnown()), { what: 'Redis has the pause' })
  const answers = await Promise.all([one, other, other].map((each) => each(url)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(early).toEqual([])
})

test('without its store, a process paces its share', async () => {
  const url = await serve((_, response) => response.end('{}'))
  const paced = limitOutgoing(fetch, {
    store: connect({ port: 1, lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 }),
    prefix: 'down',
    policies: [{ limit: 8, window: '1h', algorithm: 'sliding-log' }],
    localShare: 0.25,
    maxWait: 0,
  })
  const calls = await Promise.allSettled([1, 2, 3].map(async () => (await paced(url)).text()))
  const reasons = calls.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  expect(reasons).toHaveLength(1)
  expect(reasons[0]).toBeInstanceOf(WaitError)
})

test('a store that fails to take back a request which must wait fails no call', async () => {
  const fields = { 'x-ratelimit-remaining': '2', 'x-ratelimit-reset': '60' }
  const url = await serve((_, response) => void response.writeHead(200, fields).end('{}'))
  const open = (store: Redis) =>
    limitOutgoing(fetch, { store, prefix: 'back', maxWait: '1s', deadline: '1m' })
  const store = connect()
  const [one, other] = [open(store), open(connect())]
  await one(url)
  for (let i = 0; i < 2; i += 1) await other(url)
  const { sendCommand } = store
  let isFailing = false
  store.sendCommand = (...given) => {
    if (isFailing) return Promise.reject(new Error('broken'))
    isFailing = true
    return sendCommand.apply(store, given)
  }
  await expect(one(url)).rejects.toBeInstanceOf(WaitError)
  expect(isFailing).toBe(true)
})

test.each([
  ['share the limit', 0, {}],
  ['keep to a quarter each without their store', 1, { retryStrategy: null }],
])('four processes %s', async (_, without, client) => {
  const seen = new Map<string, number>()
  const url = await serve(({ url = '' }, response) => {
    seen.set(url, (seen.get(url) ?? 0) + 1)
    response.end('{}')
  })
  const script = await bundle(`${__dirname}/testing/calling.ts`)
  const options = {
    prefix: `four-${without}`,
    policies: [{ limit: 40, window: '1h', algorithm: 'sliding-log' }],
    localShare: 0.25,
    // Without a store nobody knows that a wait is in vain: the others end then.
    maxWait: without === 0 ? '1m' : '8s',
    deadline: '1m',
  }
  const port = without === 0 ? connect().options.port : 1
  const processes = [1, 2, 3, 4].map((n) => {
    const given = {
      redis: { port, maxRetriesPerRequest: 0, ...client },
      url: `${url}/${n}`,
      options,
    }
    const child = startBundle(script, { args: [JSON.stringify({ ...given, options })] })
    return new Promise((resolve) => child.once('close', resolve))
  })
  await Promise.all(processes)
  const counts = [...seen.values()]
  expect(counts.reduce((sum, each) => sum + each)).toBe(40)
  if (without === 1) expect(counts).toEqual([10, 10, 10, 10])
})

test('a process that is killed at the head of its queue leaves the others their turns', async () => {
  const seen: string[] = []
  const url = await serve((request, response) => {
    seen.push(request.url as string)
    response.end('{}')
  })
  const policies = [{ limit: 5, window: '1s', algorithm: 'token-bucket', burst: 1 } as const]
  const options = { prefix: 'killed', policies, key: () => 'host', deadline: '1m', maxWait: '1m' }
  const script = await bundle(`${__dirname}/testing/calling.ts`)
  const given = { redis: { port: connect().options.port }, url: `${url}/other`, options }
  const child = startBundle(script, { args: [JSON.stringify(given)] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  await until(() => seen.length >= 2, { what: 'the other process has sent two, and waits' })
  const paced = limitOutgoing(fetch, { ...options, store: connect() } as OutgoingOptions)
  const calls = [1, 2, 3].map((n) => paced(`${url}/own-${n}`))
  await until(() => seen.some((each) => each.startsWith('/own')), { what: 'both send' })
  child.kill('SIGKILL')
  const answers = await Promise.all(calls)
  await ended
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(seen.filter((each) => each.startsWith('/own'))).toEqual(['/own-1', '/own-2', '/own-3'])
  paced.close()
})

test('HTTP/2 is that of the fetch', async () => {
  let calls = 0
  const server = createHttp2Server((request, response) => {
    calls += 1
    if (calls === 1) response.writeHead(429, { 'retry-after-ms': '20' })
    response.end(request.httpVersion)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const dispatcher = new H2CClient(url)
  const paced = limitOutgoing(
    (input: string, init?: object) => fetchOfUndici(input, { ...init, dispatcher }),
    { concurrent: 1 },
  )
  try {
    for (let i = 0; i < 2; i += 1) expect(await (await paced(url)).text()).toBe('2.0')
    expect(calls).toBe(3)
  } finally {
    paced.close()
    await dispatcher.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
})

describe('the answer', () => {
  test('is that of fetch: its address, its redirect, its fields, and a clone', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/old') response.writeHead(302, { location: '/new' })
      else response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.end(request.url)
    })
    const response = await limitOutgoing(fetch)(`${url}/old`)
    const copy = response.clone()
    const { url: address, redirected, type, ok, headers } = response
    expect({ address, redirected, type, ok }).toEqual({
      address: `${url}/new`,
      redirected: true,
      type: 'basic',
      ok: true,
    })
    expect(headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(response).toBeInstanceOf(Response)
    expect(await response.text()).toBe('/new')
    expect(await copy.text()).toBe('/new')
    expect(copy.url).toBe(`${url}/new`)
  })

  test('comes as the server sends it, and an abort ends it and frees its place', async () => {
    const url = await serve((_, response) => void response.write('first'))
    const paced = limitOutgoing(fetch, { concurrent: 1, maxWait: '20s' })
    for (let i = 0; i < 2; i += 1) {
      const controller = new AbortController()
      const response = await paced(url, { signal: controller.signal })
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      expect(new TextDecoder().decode((await reader.read()).value)).toBe('first')
      controller.abort()
      await expect(reader.read()).rejects.toThrow('abort')
    }
  })
})

describe('as the fetch of a client', () => {
  const MESSAGE = { id: 'm', content: [], usage: { input_tokens: 3, output_tokens: 4 } }
  const EVENTS = [
    { id: 'c', choices: [{ index: 0, delta: { content: 'hi' } }] },
    { id: 'c', choices: [], usage: { total_tokens: 12 } },
  ]
  /** Refuses each first call, then answers as the APIs do. */
  const api = () => {
    let calls = 0
    return serve((request, response) => {
      calls += 1
      const fields = { 'content-type': 'application/json', 'retry-after-ms': '20' }
      if (calls === 1) return response.writeHead(429, fields).end('{"error":{}}')
      if (request.url?.includes('messages'))
        return response.writeHead(200, fields).end(JSON.stringify(MESSAGE))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const each of EVENTS) response.write(`data: ${JSON.stringify(each)}\n\n`)
      return response.end('data: [DONE]\n\n')
    })
  }

  test('of openai, with a stream whose last event settles its tokens', async () => {
    const settled: (number | undefined)[] = []
    const paced = limitOutgoing(fetch, {
      store: connect(),
      prefix: 'openai',
      policies: [
        {
          unit: 'tokens',
          limit: 1000,
          window: '1h',
          cost: 100,
          settle: (_, text) => {
            const total = /"total_tokens":(\d+)/.exec(text)?.[1]
            settled.push(total === undefined ? undefined : Number(total))
            return settled.at(-1)
          },
        },
      ],
    })
    const openai = new OpenAI({ baseURL: await api(), apiKey: 'none', fetch: paced })
    const stream = await openai.chat.completions.create({
      model: 'any',
      messages: [],
      stream: true,
    })
    const text: string[] = []
    for await (const { choices } of stream) text.push(choices[0]?.delta.content ?? '')
    expect(text.join('')).toBe('hi')
    expect(settled).toEqual([12])
  })

  test('of @anthropic-ai/sdk', async () => {
    const paced = limitOutgoing(fetch, { store: connect(), prefix: 'anthropic' })
    const anthropic = new Anthropic({ baseURL: await api(), apiKey: 'none', fetch: paced })
    const { usage } = await anthropic.messages.create({ model: 'any', messages: [], max_tokens: 1 })
    expect(usage).toEqual(MESSAGE.usage)
  })
})

describe('a Request that is refused is sent again', () => {
  /** Refuses each first call of a path, then answers with what it has got. */
  async function refusingFirst(): Promise<{ url: string; got: string[] }> {
    const got: string[] = []
    const url = await serve(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      const { 'content-type': type, 'content-length': length } = request.headers
      got.push(`${type} ${length} ${body.length > 100 ? body.length : body}`)
      if (got.length < 3) response.writeHead(429, { 'retry-after-ms': '5' })
      response.end(got.at(-1))
    })
    return { url, got }
  }

  const streamOf = (...chunks: string[]) =>
    new ReadableStream({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
        controller.close()
      },
    })

  test.each<[string, () => RequestInit, string]>([
    ['text', () => ({ body: 'hello' }), 'text/plain;charset=UTF-8 5 hello'],
    [
      'bytes with a type of their own',
      () => ({ body: new TextEncoder().encode('{}'), headers: { 'content-type': 'a/b' } }),
      'a/b 2 {}',
    ],
    [
      'a form',
      () => ({ body: new URLSearchParams({ a: '1' }) }),
      'application/x-www-form-urlencoded;charset=UTF-8 3 a=1',
    ],
    [
      '1 MB',
      () => ({ body: 'x'.repeat(2 ** 20) }),
      `text/plain;charset=UTF-8 ${2 ** 20} ${2 ** 20}`,
    ],
  ])('with %s', async (_, init, expected) => {
    const { url, got } = await refusingFirst()
    const request = new Request(url, { method: 'PUT', ...init() })
    const response = await limitOutgoing(fetch)(request)
    expect(await response.text()).toBe(expected)
    expect(got).toEqual([expected, expected, expected])
  })

  test('with a small stream, which has a length from then on', async () => {
    const { url, got } = await refusingFirst()
    const init = { method: 'PUT', body: streamOf('a', 'b'), duplex: 'half' } as RequestInit
    await limitOutgoing(fetch)(new Request(url, init))
    expect(got).toEqual(['undefined undefined ab', 'undefined 2 ab', 'undefined 2 ab'])
  })

  test('with what was sent first, whatever becomes of the buffers', async () => {
    const { url, got } = await refusingFirst()
    const buffer = Buffer.from('ab')
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(buffer)
        controller.close()
      },
    })
    const reusing = async (input: Request, init?: RequestInit) => {
      const response = await fetch(input, init)
      buffer.fill('z')
      return response
    }
    const request = new Request(url, { method: 'PUT', body, duplex: 'half' } as RequestInit)
    await limitOutgoing(reusing)(request)
    expect(got).toEqual(['undefined undefined ab', 'undefined 2 ab', 'undefined 2 ab'])
  })

  test('with the body that is given beside it, even if that is empty', async () => {
    const { url, got } = await refusingFirst()
    const request = new Request(url, { method: 'PUT', body: 'hello' })
    await limitOutgoing(fetch)(request, { body: '' })
    expect(got).toEqual(Array(3).fill('text/plain;charset=UTF-8 0 '))
  })

  test('with the fields that are given beside it', async () => {
    const { url, got } = await refusingFirst()
    const request = new Request(url, { method: 'PUT', body: 'hello' })
    await limitOutgoing(fetch)(request, { headers: { 'content-type': 'a/b' } })
    expect(got).toEqual(Array(3).fill('a/b 5 hello'))
  })

  test.each<[string, RequestInit]>([
    ['a body of more than 1 MB', { method: 'PUT', body: 'x'.repeat(2 ** 20 + 1) }],
    ['a method that must not be repeated', { method: 'POST', body: 'a' }],
  ])('but not with %s', async (_, init) => {
    const { url, got } = await refusingFirst()
    expect((await limitOutgoing(fetch)(new Request(url, init))).status).toBe(429)
    expect(got).toHaveLength(1)
  })

  test('but not with one that the fetch has refused', async () => {
    const { url, got } = await refusingFirst()
    const request = new Request(url, { method: 'PUT', body: 'a' })
    await request.text()
    const error = await fetch(request).catch(({ message }) => message)
    await expect(limitOutgoing(fetch)(request)).rejects.toThrow(error)
    expect(got).toEqual([])
  })

  test('and what is read ahead of a stream is bounded, also if the server never answers', async () => {
    const url = await serve(() => {})
    let pulled = 0
    const controller = new AbortController()
    const { signal } = controller
    const body = new ReadableStream({
      type: 'bytes',
      async pull(stream) {
        await new Promise(setImmediate)
        // Node's fetch goes on to read the body of an aborted request, to its end.
        if (signal.aborted) return stream.error(signal.reason)
        pulled += 65_536
        stream.enqueue(new Uint8Array(65_536))
      },
    })
    const request = new Request(url, { method: 'PUT', body, duplex: 'half', signal } as RequestInit)
    const call = limitOutgoing(fetch)(request)
    await until(() => pulled >= 2 ** 20, { what: 'the stream is read' })
    const before = pulled
    for (let i = 0; i < 1000; i += 1) await new Promise(setImmediate)
    // What the sockets take comes on top.
    expect(pulled - before).toBeLessThan(2 ** 24)
    controller.abort()
    await expect(call).rejects.toThrow('abort')
  })
})
