// Answers as servers, other people's fetch functions and callers make them.

import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net'
import { afterEach, describe, expect, test } from '@jest/globals'
import { bundle, startBundle } from '@sluice/test-harness/processes'
import { until } from '@sluice/test-harness/redis'
import { watchResponse } from './body.ts'
import { limitOutgoing } from './index.ts'

const servers: Server[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
})

async function listen(server: Server): Promise<string> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** What a fetch gives whose answer has these chunks. */
function answerOf(chunks: readonly Uint8Array[], settle?: (text: string) => void) {
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  return watchResponse(new Response(body), 1000, settle !== undefined, settle ?? (() => {}))
}

test.each([
  ['a status that no standard has', '999 Request Denied'],
  ['a status above all', '600 X'],
  ['a reason that is not ASCII', '200 \u00d6k'],
  ['no reason', '200 '],
])('%s is that of the fetch', async (_, line) => {
  const head = `HTTP/1.1 ${line}\r\nContent-Length: 2\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n`
  const raw = createSocketServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(Buffer.from(`${head}hi`, 'latin1')))
  })
  const url = await listen(raw)
  const paced = limitOutgoing(fetch)
  const read = async (response: Response) => {
    const { status, statusText, ok, headers } = response.clone()
    return [status, statusText, ok, headers.getSetCookie(), await response.text()]
  }
  expect(await read(await paced(url))).toEqual(await read(await fetch(url)))
})

describe('chunks of another fetch', () => {
  test('of a Buffer leave the memory that it shares', async () => {
    const chunk = Buffer.from('abc')
    const neighbour = Buffer.from('def')
    expect(chunk.buffer).toBe(neighbour.buffer)
    expect(await answerOf([chunk]).text()).toBe('abc')
    expect(`${neighbour}`).toBe('def')
  })

  test('that are used again, or empty, arrive', async () => {
    const ping = new TextEncoder().encode('ping')
    const nothing = new Uint8Array(0)
    expect(await answerOf([nothing, ping, nothing, nothing, ping, nothing, nothing]).text()).toBe(
      'pingping',
    )
  })

  test('in the middle of a character are one text', async () => {
    const bytes = new TextEncoder().encode('a€b')
    const texts: string[] = []
    const chunks = [...bytes].map((byte) => Uint8Array.of(byte))
    await answerOf(chunks, (text) => texts.push(text)).text()
    expect(texts).toEqual(['a€b'])
  })

  test('of which there are many keep the end of the text, and no more', async () => {
    const chunks = Array.from({ length: 50_000 }, (_, i) => Buffer.from(`${i}`.padStart(64)))
    const texts: string[] = []
    const text = await answerOf(chunks, (end) => texts.push(end)).text()
    expect(texts).toEqual([text.slice(-(2 ** 20))])
  })
})

test('a reader that cancels after its first chunk cancels the source', async () => {
  const cancelled: unknown[] = []
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(1)),
    cancel: (reason) => void cancelled.push(reason),
  })
  const reader = watchResponse(new Response(body), 1000, false, () => {}).body?.getReader()
  await reader?.read()
  await reader?.cancel('enough')
  expect(cancelled).toEqual(['enough'])
})

test('a body that only its own library can read stays as it is', async () => {
  const answer = { status: 200, headers: new Headers(), body: { pipe: () => {} } }
  const paced = limitOutgoing(async (_url: string) => answer, { concurrent: 1 })
  expect(await paced('http://one.test/')).toBe(answer)
  expect(await paced('http://one.test/')).toBe(answer)
  let destroyed = 0
  const destroy = () => {
    destroyed += 1
  }
  const body = { pipe: () => {}, destroy }
  const headers = new Headers({ 'Retry-After-Ms': '1', 'Content-Type': 'application/json' })
  const refused = { status: 429, headers, body, clone: () => refused }
  const refusing = limitOutgoing(async (_url: string) => refused)
  expect(await refusing('http://one.test/')).toBe(refused)
  expect(destroyed).toBe(2)
})

test('a URL without a host is fetched', async () => {
  const paced = limitOutgoing(fetch, { policies: [{ limit: 1, window: '1h' }] })
  expect(await (await paced('data:text/plain,hi')).text()).toBe('hi')
})

test('a response that nobody reads frees its connection', async () => {
  let closed = 0
  const server = createServer((_, response) => response.end(Buffer.alloc(20_000_000)))
  server.on('connection', (socket) => {
    socket.on('close', () => {
      closed += 1
    })
  })
  const url = await listen(server)
  const script = await bundle(`${__dirname}/testing/unread.ts`)
  const child = startBundle(script, { args: [url], flags: ['--expose-gc'] })
  try {
    await until(() => closed >= 10, { what: 'half of the twenty connections are closed' })
  } finally {
    child.kill('SIGKILL')
    server.closeAllConnections()
  }
})
