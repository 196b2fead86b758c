// A server of each framework that sheds load, then limits, then serves.

import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer, getRequestListener } from '@hono/node-server'
import { Controller, Get, Module, Res } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { rateLimit as expressLimit, type Limiter } from '@sluice/express'
import { shedLoad as expressShed } from '@sluice/express/overload'
import { rateLimit as fastifyLimit } from '@sluice/fastify'
import { shedLoad as fastifyShed } from '@sluice/fastify/overload'
import { rateLimit as honoLimit, limitFetch } from '@sluice/hono'
import { shedLoad as honoShed, shedFetch } from '@sluice/hono/overload'
import { rateLimit as koaLimit } from '@sluice/koa'
import { shedLoad as koaShed } from '@sluice/koa/overload'
import { RateLimitGuard, RateLimitModule } from '@sluice/nest'
import { shedLoad as nestShed } from '@sluice/nest/overload'
import { rateLimit as nodeLimit } from '@sluice/node'
import { shedLoad as nodeShed } from '@sluice/node/overload'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'

/** The common parts of the servers. */
export interface Site {
  readonly classes: { critical: { reserve?: number }; normal: object }
  readonly queue: { max: number; maxWait: '1m' }
  /** The options of the rate limit behind it. Nest has none unless they are given. */
  readonly limit?: object
  /** Called by the handler: what it resolves with is the body. */
  serve(): Promise<string>
}

/** The framework's request and Node's both have it, under one of two names. */
const classFrom = (read: (name: string) => unknown) =>
  read('x-class') === 'critical' ? 'critical' : 'normal'
const ofNode = (request: { headers: IncomingMessage['headers'] }) =>
  classFrom((name) => request.headers[name])
const isHealth = (path: string | undefined) => path === '/health'
const LIMIT = { limit: 1000, window: '1d' } as const

/** A rate limit as it is given, or that of most tests. */
const limitOf = (given: object = LIMIT) => given as typeof LIMIT

/** Each listens, and resolves with the server and what closes it. */
export const SERVERS: Record<string, (site: Site) => Promise<Server> | Server> = {
  Express({ serve, limit: given, ...options }) {
    const app = express()
    app.use(expressShed({ ...options, classOf: ofNode, skip: ({ path }) => isHealth(path) }))
    app.use(expressLimit(limitOf(given)), (_, response, next) => {
      serve().then((body) => void response.send(body), next)
    })
    return createServer(app)
  },
  'Node, in front of Express'({ serve, limit: given, ...options }) {
    const app = express()
    app.use(expressLimit(limitOf(given)), (_, response, next) => {
      serve().then((body) => void response.send(body), next)
    })
    const shed = nodeShed({ ...options, classOf: ofNode, skip: ({ url }) => isHealth(url) })
    return createServer((request, response) =>
      shed(request, response, () => app(request, response)),
    )
  },
  Node({ serve, limit: given, ...options }) {
    const shed = nodeShed({ ...options, classOf: ofNode, skip: ({ url }) => isHealth(url) })
    const limit = nodeLimit(limitOf(given))
    return createServer((request, response) =>
      shed(request, response, () =>
        limit(request, response, () => serve().then((body) => response.end(body))),
      ),
    )
  },
  Koa({ serve, limit: given, ...options }) {
    const app = new Koa()
    app.use(
      koaShed({ ...options, classOf: (ctx) => ofNode(ctx.req), skip: (ctx) => isHealth(ctx.path) }),
    )
    app.use(koaLimit(limitOf(given)))
    app.use(async (ctx) => {
      ctx.body = await serve()
    })
    return createServer(app.callback())
  },
  Hono({ serve, limit: given, ...options }) {
    const app = new Hono()
    app.use(
      honoShed({
        ...options,
        classOf: (c) => classFrom((name) => c.req.header(name)),
        skip: (c) => isHealth(c.req.path),
      }),
    )
    app.use(honoLimit({ ...limitOf(given), key: () => 'all' }))
    app.get('*', async (c) => c.text(await serve()))
    return createAdaptorServer(app) as Server
  },
  'a function of a Request': ({ serve, limit: given, ...options }) => {
    const limited = limitFetch({ ...limitOf(given), key: () => 'all' }, async () => {
      return new Response(await serve())
    })
    const classOf = ({ headers }: Request) => classFrom((name) => headers.get(name))
    const skip = ({ url }: Request) => isHealth(new URL(url).pathname)
    return createServer(getRequestListener(shedFetch({ ...options, classOf, skip }, limited)))
  },
  async Fastify({ serve, limit: given, ...options }) {
    const app = fastify()
    const skip = ({ url }: { url: string }) => isHealth(url)
    await app.register(fastifyShed, { ...options, classOf: ofNode, skip })
    await app.register(fastifyLimit, limitOf(given))
    app.get('/*', async () => serve())
    await app.ready()
    return app.server
  },
  'Nest on Express': (site) => nest(site, new ExpressAdapter()),
  'Nest on Fastify': (site) => nest(site, new FastifyAdapter()),
}

async function nest({ serve, limit, ...options }: Site, platform: ExpressAdapter | FastifyAdapter) {
  class HoldController {
    async hold(response: { status(code: number): unknown; send(body: string): unknown }) {
      response.send(await serve())
    }
  }
  class AppModule {}
  Controller()(HoldController)
  const hold = Object.getOwnPropertyDescriptor(HoldController.prototype, 'hold')
  Get(['/', '/health'])(HoldController.prototype, 'hold', hold as PropertyDescriptor)
  Res()(HoldController.prototype, 'hold', 0)
  Module({
    controllers: [HoldController],
    imports: limit === undefined ? [] : [RateLimitModule.forRoot(limitOf(limit))],
    providers: limit === undefined ? [] : [{ provide: APP_GUARD, useClass: RateLimitGuard }],
  })(AppModule)
  const app = await NestFactory.create(AppModule, platform as ExpressAdapter, { logger: false })
  app.use(nestShed({ ...options, classOf: ofNode, skip: ({ url }) => isHealth(url) }))
  await app.init()
  if (platform instanceof FastifyAdapter) await platform.getInstance().ready()
  return app.getHttpServer() as Server
}

export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

interface Waiting {
  readonly waiting: { readonly queues?: { readonly waiters: ReadonlySet<unknown> } }
}

/** How many requests wait for a limiter and for those of its routes. */
export function waitersOf(limiter: Limiter): number {
  const { clients } = limiter as unknown as { clients: { siblings(): readonly Waiting[] } }
  const all = new Set([limiter as unknown as Waiting, ...clients.siblings()])
  return [...all].reduce((sum, { waiting }) => sum + (waiting.queues?.waiters.size ?? 0), 0)
}
