// Middleware that listens for 'data' makes a request flow. What arrives while a limiter waits for its store
// would be lost for everybody behind it.

import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { afterEach, describe, expect, test } from '@jest/globals'
import { rateLimit as expressLimit } from '@sluice/express'
import { rateLimit as fastifyLimit } from '@sluice/fastify'
import { rateLimit as honoLimit } from '@sluice/hono'
import { rateLimit as koaLimit } from '@sluice/koa'

import { rateLimit as nodeLimit } from '@sluice/node'
import express5 from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'

/** As with a remote store: the answer comes in a later turn of the event loop, when more has been received. */
const options = {
  limit: 1,
  window: '1h',
  key: () => new Promise<string>((resolve) => setTimeout(resolve, 20, 'client')),
} as const

/** What an earlier middleware has counted. */
let counted: number
const count = (request: IncomingMessage) =>
  void request.on('data', (chunk: Uint8Array) => {
    counted += chunk.length
  })

async function bytesOf(request: AsyncIterable<Uint8Array>): Promise<string> {
  let bytes = 0
  for await (const chunk of request) bytes += chunk.length
  return `${bytes}`
}

const expressServer = (express: typeof express5) => () => {
  const app = express()
  app.use((request, _, next) => {
    count(request)
    next()
  })
  app.use(expressLimit(options), express.json({ limit: '8mb' }))
  app.post('/', (request, response) => void response.send(`${JSON.stringify(request.body).length}`))
  return createServer(app)
}

const SERVERS: Record<string, () => Server | Promise<Server>> = {
  'Express 5': expressServer(express5),
  'Express 4': expressServer(express4 as unknown as typeof express5),
  async Fastify() {
    const app = fastify({ bodyLimit: 8_000_000 })
    app.addHook('onRequest', ({ raw }, _, next) => {
      count(raw)
      next()
    })
    await app.register(fastifyLimit, options)
    app.post('/', async ({ body }) => `${JSON.stringify(body).length}`)
    await app.ready()
    return app.server
  },
  Koa() {
    const app = new Koa()
    app.use((ctx, next) => {
      count(ctx.req)
      return next()
    })
    app.use(koaLimit(options)).use(async (ctx) => {
      ctx.body = await bytesOf(ctx.req)
    })
    return createServer(app.callback())
  },
  Hono() {
    const app = new Hono<{ Bindings: HttpBindings }>()
    app.use((c, next) => {
      count(c.env.incoming)
      return next()
    })
    app.use(honoLimit({ ...options, address: () => undefined }))
    app.post('/', async (c) => c.text(`${(await c.req.arrayBuffer()).byteLength}`))
    return createAdaptorServer(app) as Server
  },
  Node() {
    const limit = nodeLimit(options)
    return createServer((request, response) => {
      count(request)
      void limit(request, response, async () => void response.end(await bytesOf(request)))
    })
  },
}

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** Sends JSON over one connection, however many requests: as text of so many bytes. */
async function connect(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  ends.push(() => {
    agent.destroy()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return (bytes: number) =>
    new Promise<[status: number | undefined, text: string]>((resolve, reject) => {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': bytes }
      const sent = httpRequest({ port, agent, method: 'POST', headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () => resolve([response.statusCode, text]))
      })
      sent.on('error', reject)
      sent.end(JSON.stringify(['a'.repeat(bytes - 4)]))
    })
}

describe.each(Object.keys(SERVERS))('%s, behind middleware that listens for data', (name) => {
  test.each([100, 3_000_000])('reads a body of %i bytes whole', async (bytes) => {
    counted = 0
    const send = await connect(await (SERVERS[name] as () => Server)())
    expect(await send(bytes)).toEqual([200, `${bytes}`])
    expect(counted).toBe(bytes)
  })

  test('a request that is refused is not resumed before it is answered, and its connection serves the next', async () => {
    const send = await connect(await (SERVERS[name] as () => Server)())
    await send(100)
    for (let i = 0; i < 3; i += 1) expect((await send(3_000_000))[0]).toBe(429)
  })
})
