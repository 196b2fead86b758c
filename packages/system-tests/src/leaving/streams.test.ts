// Bodies that are streams, of which nothing calls `end`: what each framework reports of them.

import { once } from 'node:events'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, pipeline, Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { rateLimit as expressLimit, type Limiter, memoryStore } from '@sluice/express'
import { rateLimit as fastifyLimit } from '@sluice/fastify'
import { rateLimit as koaLimit } from '@sluice/koa'
import { rateLimit as nodeLimit } from '@sluice/node'
import { until } from '@sluice/test-harness/redis'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'

const SLOTS = 2
const options = { concurrent: SLOTS, hold: '1h' } as const

/** What a handler sends. */
type Body = () => Readable
type Store = ReturnType<typeof memoryStore>
type Start = (body: Body, store: Store) => Promise<[Server, Limiter]>

const ignore = () => {}

function nodeApp(store: Store, handle: (response: ServerResponse) => void): [Server, Limiter] {
  const limit = nodeLimit({ ...options, store })
  const listener: RequestListener = (request, response) =>
    limit(request, response, () => handle(response))
  return [createServer(listener), limit.limiter]
}

const WAYS: Record<string, Start> = {
  'Node, pipeline': async (body, store) =>
    nodeApp(store, (response) => pipeline(body(), response, ignore)),
  'Node, pipe': async (body, store) =>
    nodeApp(store, (response) => body().on('error', ignore).pipe(response)),
  'Express, pipeline': async (body, store) => {
    const limit = expressLimit({ ...options, store })
    const app = express().use(limit, (_, response) => void pipeline(body(), response, ignore))
    return [createServer(app), limit.limiter]
  },
  Koa: async (body, store) => {
    const limit = koaLimit({ ...options, store })
    const app = new Koa().use(limit).use((ctx) => {
      ctx.body = body()
    })
    app.silent = true
    return [createServer(app.callback()), limit.limiter]
  },
  Fastify: async (body, store) => {
    const app = fastify()
    await app.register(fastifyLimit, { ...options, store })
    app.get('/', async (_, reply) => reply.send(body()))
    await app.ready()
    return [app.server, app.rateLimit]
  },
}

let store: Store
let server: Server
let limiter: Limiter
let port: number

beforeEach(() => {
  store = memoryStore()
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
  store.close()
})

const serve = async (way: string, body: Body) => listen(await (WAYS[way] as Start)(body, store))

async function listen(started: readonly [Server, Limiter]): Promise<void> {
  ;[server, limiter] = started
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
}

const free = async () => (await limiter.peek('127.0.0.1')).remaining

async function untilFree(): Promise<void> {
  let found = 0
  await until(
    () => {
      void free().then?.((each) => {
        found = each
      })
      return found === SLOTS
    },
    { what: 'the slot is free' },
  )
}

/** A client that has read some of the body. */
async function reading() {
  const socket = connect(port, '127.0.0.1').on('error', ignore)
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  let text = ''
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += chunk
    if (/first/.test(text)) break
  }
  socket.resume()
  return socket
}

async function turns(): Promise<void> {
  for (let i = 0; i < 50; i += 1) await new Promise(setImmediate)
}

describe.each(Object.keys(WAYS))('%s', (way) => {
  test('a source that fails frees the slot, when the client has gone at the latest', async () => {
    let fail = ignore
    await serve(way, () =>
      Readable.from(
        (async function* () {
          yield 'first'
          await new Promise<void>((resolve) => {
            fail = resolve
          })
          throw new Error('failed')
        })(),
      ),
    )
    const client = await reading()
    expect(await free()).toBe(SLOTS - 1)
    fail()
    await turns()
    client.destroy()
    await untilFree()
  })

  test('a client that leaves frees nothing while the application writes to its stream', async () => {
    const written = new PassThrough().on('error', ignore)
    await serve(way, () => written)
    written.write('first')
    const client = await reading()
    client.destroy()
    await once(client, 'close')
    await turns()
    expect(await free()).toBe(SLOTS - 1)
  })
})

// A pipe whose client has gone neither reads its source nor destroys it: the slot is free after `hold`.
describe.each(Object.keys(WAYS).filter((way) => way !== 'Node, pipe'))('%s', (way) => {
  test('a client that leaves frees nothing before the source has ended', async () => {
    let finish = ignore
    let hasEnded = false
    await serve(way, () =>
      Readable.from(
        (async function* () {
          try {
            yield 'first'
            await new Promise<void>((resolve) => {
              finish = resolve
            })
            yield 'last'
          } finally {
            hasEnded = true
          }
        })(),
      ),
    )
    const client = await reading()
    client.destroy()
    await once(client, 'close')
    await turns()
    expect([await free(), hasEnded]).toEqual([SLOTS - 1, false])
    finish()
    await untilFree()
    expect(hasEnded).toBe(true)
  })
})

test('what a source that has ended is followed by is still work', async () => {
  await listen(
    nodeApp(store, (response) => Readable.from(['first']).pipe(response, { end: false })),
  )
  const client = await reading()
  await turns()
  client.destroy()
  await once(client, 'close')
  await turns()
  expect(await free()).toBe(SLOTS - 1)
})

test('of two streams into one response each is work, until it has closed', async () => {
  const [longer, shorter] = [new Readable({ read: ignore }), new Readable({ read: ignore })]
  await listen(
    nodeApp(store, (response) => {
      for (const each of [longer, shorter]) each.pipe(response, { end: false })
      longer.push('first')
    }),
  )
  const client = await reading()
  client.destroy()
  await once(client, 'close')
  shorter.destroy()
  await turns()
  expect(await free()).toBe(SLOTS - 1)
  longer.destroy()
  await untilFree()
})

test('Koa: what throws after the head was sent has ended', async () => {
  const limit = koaLimit({ ...options, store })
  let fail = ignore
  const app = new Koa().use(limit).use(async (ctx) => {
    ctx.res.write('first')
    await new Promise<void>((resolve) => {
      fail = resolve
    })
    throw new Error('failed')
  })
  app.silent = true
  await listen([createServer(app.callback()), limit.limiter])
  const client = await reading()
  fail()
  await turns()
  expect(await free()).toBe(SLOTS - 1)
  client.destroy()
  await untilFree()
})

test('Express: a file whose client leaves', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-file-'))
  const file = join(folder, 'large')
  writeFileSync(file, 'first')
  truncateSync(file, 50_000_000)
  const limit = expressLimit({ ...options, store })
  const app = express().use(limit, (_, response) => response.sendFile(file))
  await listen([createServer(app), limit.limiter])
  const client = await reading()
  expect(await free()).toBe(SLOTS - 1)
  client.pause().destroy()
  await untilFree()
  rmSync(folder, { recursive: true })
})
