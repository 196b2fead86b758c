import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { FetchReply } from './fetch-reply.ts'

type Controller = ReadableStreamDefaultController<Uint8Array>
type Stream = ReadableStream<Uint8Array>

const bytes = (text: string) => new TextEncoder().encode(text)

const FAKED = { doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] } as const
beforeEach(() => void jest.useFakeTimers({ doNotFake: [...FAKED.doNotFake] }))
afterEach(() => void jest.useRealTimers())

function replyTo(signal = new AbortController().signal, isWatched = true) {
  const reply = new FetchReply(new Request('http://example.com', { signal }))
  const events: string[] = []
  if (isWatched) {
    reply.ended.on(() => events.push('ended'))
    reply.whenClosed(() => events.push('closed'))
    reply.onProgress(() => events.push('progress'))
  }
  return { reply, events }
}

const bodyOf = ({ response }: FetchReply) => (response as Response).body as Stream

function source() {
  let controller = undefined as unknown as Controller
  const cancel = jest.fn<(reason: unknown) => void>()
  const body: Stream = new ReadableStream({
    start(given) {
      controller = given
    },
    cancel,
  })
  return { body, cancel, controller }
}

describe('a response that is not watched', () => {
  test('is the same object, with the fields', async () => {
    const { reply } = replyTo(undefined, false)
    reply.setField('RateLimit', 'r=1')
    const made = new Response('served')
    await reply.answerWith(() => made)
    expect(reply.response).toBe(made)
    expect([made.headers.get('RateLimit'), await made.text()]).toEqual(['r=1', 'served'])
  })

  test('is copied if its headers cannot be changed', async () => {
    const { reply } = replyTo(undefined, false)
    reply.setField('RateLimit', 'r=1')
    await reply.answerWith(() => Response.redirect('http://example.com/', 303))
    expect(reply.response?.status).toBe(303)
    expect(Object.fromEntries(reply.response?.headers ?? [])).toEqual({
      location: 'http://example.com/',
      ratelimit: 'r=1',
    })
  })

  /** As a fetch makes it, whose status and headers can't be changed here. */
  function answerOf(facts: object): Response {
    const answer = Response.redirect('http://example.com/', 303)
    for (const [name, value] of Object.entries({ ...facts, body: new Response('served').body }))
      Object.defineProperty(answer, name, { value })
    return answer
  }

  test.each([
    ['not ASCII', '\ufffdk'],
    ['with a control character', 'a\x7fb'],
  ])('a reason that is %s, of another server, is left out', async (_, statusText) => {
    for (const isWatched of [false, true]) {
      const { reply } = replyTo(undefined, isWatched)
      reply.setField('RateLimit', 'r=1')
      await reply.answerWith(() => answerOf({ status: 503, statusText }))
      const { status, headers } = reply.response as Response
      expect([status, headers.get('RateLimit')]).toEqual([503, 'r=1'])
      expect(await reply.response?.text()).toBe('served')
    }
  })

  test('a status that no standard has, of another server, is left alone, and has ended', async () => {
    const { reply, events } = replyTo()
    reply.setField('RateLimit', 'r=1')
    const answer = answerOf({ status: 999 })
    await reply.answerWith(() => answer)
    expect(reply.response).toBe(answer)
    expect(events).toEqual(['ended', 'closed'])
  })

  test('is copied if it may be returned again: no request has the fields of another', async () => {
    const cookies = ['a=1', 'b=2']
    const headers = cookies.map((each): [string, string] => ['Set-Cookie', each])
    const kept = new Response(null, { status: 404, headers })
    for (const field of ['r=1', 'r=0']) {
      const { reply } = replyTo(undefined, false)
      reply.setField('RateLimit', field)
      await reply.answerWith(() => kept)
      expect(reply.response?.headers.get('RateLimit')).toBe(field)
      expect(reply.response?.headers.getSetCookie()).toEqual(cookies)
    }
    expect(kept.headers.has('RateLimit')).toBe(false)
  })

  test.each([undefined, null, 'served'])(
    'is %p: an error says so, and it has ended',
    async (made) => {
      const { reply, events } = replyTo()
      await expect(reply.answerWith(() => made as never)).rejects.toMatchObject({
        code: 'SLUICE_REQUEST',
        message: expect.stringMatching(/a Response of the Fetch standard/),
      })
      expect([reply.status, events]).toEqual([500, ['ended', 'closed']])
    },
  )

  test('is left alone if the application has sent it', async () => {
    const { reply, events } = replyTo()
    reply.setField('RateLimit', 'r=1')
    const sent = new Response(null, { headers: { 'x-hono-already-sent': 'true' } })
    await reply.answerWith(() => sent)
    expect(reply.response).toBe(sent)
    expect([...sent.headers.keys()]).toEqual(['x-hono-already-sent'])
    expect(events).toEqual(['ended', 'closed'])
  })
})

describe('a body that is complete has ended, whether or not it is read', () => {
  test.each<[string, () => ConstructorParameters<typeof Response>[0], string]>([
    ['text', () => 'served', 'served'],
    ['no text', () => '', ''],
    ['bytes', () => bytes('served'), 'served'],
    ['a stream with all of it', () => new Response('served').body as Stream, 'served'],
    ['a copy', () => new Response('served').clone().body as Stream, 'served'],
    ['in two parts', () => new ReadableStream({ start: twoParts }), 'served'],
    ['nothing', () => null, ''],
  ])('%s', async (_, body, text) => {
    const { reply, events } = replyTo()
    const headers = { 'Content-Type': 'text/x' }
    await reply.answerWith(() => new Response(body(), { status: 203, statusText: 'So', headers }))
    expect(events).toEqual(['ended', 'closed'])
    const { status, statusText } = reply.response as Response
    expect([status, statusText, reply.response?.headers.get('Content-Type')]).toEqual([
      203,
      'So',
      'text/x',
    ])
    expect(await reply.response?.text()).toBe(text)
  })

  function twoParts(controller: Controller) {
    controller.enqueue(bytes('ser'))
    controller.enqueue(bytes('ved'))
    controller.close()
  }
})

describe('a body whose source goes on', () => {
  test('has ended with its source; every part of it is progress', async () => {
    const { reply, events } = replyTo()
    const { body, controller } = source()
    controller.enqueue(bytes('a'))
    await reply.answerWith(() => new Response(body))
    expect([events.splice(0), reply.isUnread()]).toEqual([['progress'], true])
    const reader = bodyOf(reply).getReader()
    expect((await reader.read()).value).toEqual(bytes('a'))
    expect([events.splice(0), reply.isUnread()]).toEqual([['progress', 'progress'], false])
    jest.advanceTimersByTime(5000)
    expect(reply.quietMs()).toBe(5000)
    const last = reader.read()
    await undefined
    // It asks again: what was given back because nothing happened is in use.
    expect(events.splice(0)).toEqual(['progress'])
    jest.advanceTimersByTime(5000)
    // Its reader waits.
    expect(reply.quietMs()).toBe(0)
    controller.enqueue(bytes('b'))
    expect((await last).value).toEqual(bytes('b'))
    jest.advanceTimersByTime(5000)
    expect(reply.quietMs()).toBe(5000)
    controller.close()
    expect((await reader.read()).done).toBe(true)
    expect(events).toEqual(['progress', 'progress', 'ended', 'closed'])
  })

  test('has ended when the source fails, and its reader gets the error', async () => {
    const { reply, events } = replyTo()
    const { body, controller } = source()
    await reply.answerWith(() => new Response(body))
    controller.error(new Error('of the source'))
    await expect(reply.response?.text()).rejects.toThrow('of the source')
    expect(events).toEqual(['progress', 'progress', 'ended', 'closed'])
  })

  test.each(['while its reader waits', 'between two parts'])(
    'has not ended if it is cancelled %s: the source learns it, and the client has gone',
    async (moment) => {
      const { reply, events } = replyTo()
      const { body, cancel, controller } = source()
      await reply.answerWith(() => new Response(body))
      const reader = bodyOf(reply).getReader()
      if (moment === 'between two parts') controller.enqueue(bytes('a'))
      const read = reader.read()
      if (moment === 'between two parts') await read
      events.splice(0)
      await reader.cancel('gone')
      await read
      expect(cancel).toHaveBeenCalledWith('gone')
      expect(events).toEqual(['closed', 'progress'])
      jest.advanceTimersByTime(3000)
      expect([reply.quietMs(), reply.isClosed]).toEqual([3000, true])
    },
  )

  test('is quiet from when its client has gone, though somebody still waits for it', async () => {
    const leaving = new AbortController()
    const { reply } = replyTo(leaving.signal)
    const { body, controller } = source()
    await reply.answerWith(() => new Response(body))
    const reader = bodyOf(reply).getReader()
    leaving.abort()
    void reader.read().catch(() => {})
    jest.advanceTimersByTime(3000)
    expect(reply.quietMs()).toBe(3000)
    controller.close()
  })

  test('of bytes fills the buffers of its reader', async () => {
    const { reply, events } = replyTo()
    const parts = ['abc', 'd', 'efg', 'hi', 'j']
    const pull = (controller: ReadableByteStreamController) => {
      const part = parts.shift()
      if (part !== undefined) return controller.enqueue(bytes(part))
      controller.close()
      controller.byobRequest?.respond(0)
    }
    await reply.answerWith(
      () => new Response(new ReadableStream({ type: 'bytes', pull }) as Stream),
    )
    const reader = bodyOf(reply).getReader({ mode: 'byob' })
    const texts: string[] = []
    for (;;) {
      const { done, value } = await reader.read(new Uint8Array(2))
      if (done) break
      texts.push(new TextDecoder().decode(value))
    }
    expect(texts).toEqual(['ab', 'c', 'd', 'ef', 'g', 'hi', 'j'])
    expect(events.slice(-2)).toEqual(['ended', 'closed'])
  })

  test('of text, which some servers send, stays text', async () => {
    const { reply } = replyTo()
    const start = (controller: { enqueue(chunk: unknown): void }) => controller.enqueue('text')
    await reply.answerWith(() => new Response(new ReadableStream({ start }) as Stream))
    expect(await bodyOf(reply).getReader().read()).toEqual({ done: false, value: 'text' })
  })

  test('is read ahead by no more than three parts', async () => {
    let pulled = 0
    const pull = (controller: Controller) => {
      pulled += 1
      controller.enqueue(bytes('x'))
    }
    const { reply } = replyTo()
    await reply.answerWith(() => new Response(new ReadableStream({ pull }, { highWaterMark: 0 })))
    expect(pulled).toBe(3)
  })
})

test('a client that has gone before the application answers: its source is cancelled', async () => {
  const leaving = new AbortController()
  const { reply, events } = replyTo(leaving.signal)
  leaving.abort('left')
  expect([events.splice(0), reply.quietMs()]).toEqual([['closed'], undefined])
  const { body, cancel } = source()
  await reply.answerWith(() => new Response(body))
  expect(cancel).toHaveBeenCalledWith('left')
  jest.advanceTimersByTime(2000)
  expect([new Set(events), reply.quietMs()]).toEqual([new Set(['progress']), 2000])
})

test('a signal that was aborted before is a client that has gone', async () => {
  const { reply, events } = replyTo(AbortSignal.abort())
  expect([events.splice(0), reply.isClosed]).toEqual([['closed'], true])
  await reply.answerWith(() => new Response('served'))
  expect(events).toEqual(['ended'])
})

test('the signal has one listener while somebody asks, and then none', async () => {
  const request = new Request('http://example.com')
  const reply = new FetchReply(request)
  const count = () => getEventListeners(request.signal, 'abort').length
  const cancels = [1, 2].map(() => reply.whenClosed(() => {}))
  expect(count()).toBe(1)
  cancels[0]?.()
  expect(count()).toBe(1)
  cancels[1]?.()
  expect(count()).toBe(0)
  reply.whenClosed(() => {})
  expect(count()).toBe(1)
  await reply.answerWith(() => new Response('served'))
  expect(count()).toBe(0)
})
