import {
  createServer as createHttp1,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import {
  createServer as createHttp2,
  type Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { rateLimit as expressLimit } from '@sluice/express'
import { rateLimit as fastifyLimit } from '@sluice/fastify'
import { rateLimit as koaLimit } from '@sluice/koa'
import express5, { type NextFunction, type Request, type Response } from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import Koa from 'koa'

export type Version = 'HTTP/1.1' | 'HTTP/2'

/** An application with one limiter, whose requests take their time. */
export interface Slow {
  /** Terms of the limiter; functions get the request and response of the framework. */
  readonly options: object
  /** Called before the limiter. */
  before(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Called after the limiter: gives the status of the response, or throws. */
  work(response: ServerResponse): Promise<number>
  /** The body of the response. Default: a word. */
  body?(): string | Readable
}

/** A server whose limiter the test asks. */
export interface Running {
  readonly port: number
  readonly limiter: { peek(key: string): unknown }
  stop(): Promise<void>
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void

type Limiter = Running['limiter']

/** The parts of a framework that the tests need. */
type Start = (
  slow: Slow,
  version: Version,
) => Promise<{ server: Server | Http2Server; limiter: Limiter }>

export const FRAMEWORKS: Record<string, Start> = {
  'Express 5': (slow, version) => startExpress(express5, slow, version),
  'Express 4': (slow, version) => startExpress(express4 as never, slow, version),
  'Fastify 5': startFastify,
  'Koa 3': startKoa,
}

export async function start(adapter: string, slow: Slow, version: Version): Promise<Running> {
  const { server, limiter } = await (FRAMEWORKS[adapter] as Start)(slow, version)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    limiter,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function serverOf(listener: Listener, version: Version): Server | Http2Server {
  return version === 'HTTP/2' ? createHttp2(listener as never) : createHttp1(listener)
}

async function startExpress(express: typeof express5, slow: Slow, version: Version) {
  const app = express()
  if (version === 'HTTP/2') {
    // Express builds on the prototypes of HTTP/1.1.
    Object.assign(app, {
      request: overHttp2(Http2ServerRequest.prototype, app.request),
      response: overHttp2(Http2ServerResponse.prototype, app.response),
    })
  }
  app.use((request, response, next) => {
    slow.before(request, response).then(() => next(), next)
  })
  const limit = expressLimit(slow.options as never)
  app.use(limit, (_, response, next) => {
    slow.work(response).then((status) => {
      const body = bodyOf(slow)
      response.status(status)
      if (typeof body === 'string') response.send(body)
      else body.pipe(response)
    }, next)
  })
  app.use((error: { status?: number }, _: Request, response: Response, __: NextFunction) => {
    response.status(error.status ?? 500).send('failed')
  })
  return { server: serverOf(app, version), limiter: limit.limiter }
}

function bodyOf(slow: Slow): string | Readable {
  return slow.body?.() ?? 'done'
}

function overHttp2(prototype: object, own: object): object {
  const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(
    Object.getPrototypeOf(own),
  ) as PropertyDescriptorMap
  return Object.create(Object.create(prototype, methods), Object.getOwnPropertyDescriptors(own))
}

async function startFastify(slow: Slow, version: Version) {
  const app = fastify(version === 'HTTP/2' ? ({ http2: true } as never) : {})
  app.addHook('onRequest', (request, reply) => slow.before(request.raw, reply.raw))
  await app.register(fastifyLimit, slow.options as never)
  app.get('/', async (_, reply) => {
    reply.code(await slow.work(reply.raw))
    return bodyOf(slow)
  })
  await app.ready()
  return { server: app.server, limiter: app.rateLimit }
}

async function startKoa(slow: Slow, version: Version) {
  const app = new Koa()
  app.silent = true
  app.use(async (ctx, next) => {
    await slow.before(ctx.req, ctx.res)
    await next()
  })
  const limit = koaLimit(slow.options as never)
  app.use(limit).use(async (ctx) => {
    ctx.status = await slow.work(ctx.res)
    ctx.body = bodyOf(slow)
  })
  return { server: serverOf(app.callback(), version), limiter: limit.limiter }
}
