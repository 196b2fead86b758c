// How the suite of adapters runs applications of Nest.

import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  All,
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  HttpException,
  Inject,
  Module,
  NotFoundException,
  Req,
  Res,
} from '@nestjs/common'
import { BaseExceptionFilter, HttpAdapterHost, NestFactory } from '@nestjs/core'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { type AdapterKit, middlewareOf, type Site, writeChunks } from '@sluice/test-suites'
import type { NextFunction, Request, Response } from 'express'
import {
  type Decision,
  type NestRequest,
  type NestResponse,
  RateLimitDecision,
  RateLimitException,
  RateLimitGuard,
  RateLimits,
} from '../index.ts'

type NestSite = Site<NestRequest, NestResponse>
type Raw = IncomingMessage & { raw?: IncomingMessage }

/** The methods of Fastify's reply that Express's response does not have. */
interface FastifysOwn {
  readonly raw: ServerResponse
  hijack(): unknown
}

const read = (request: NestRequest) => (request as Raw).raw ?? (request as Raw)

/** @param everyPath every path, in the platform's own syntax */
function applicationOf(site: NestSite, everyPath: string) {
  @Controller()
  class SiteController {
    @All(everyPath)
    async handle(
      @Req() request: NestRequest,
      @Res() response: NestResponse & ServerResponse & Partial<FastifysOwn>,
      @RateLimitDecision() decision: Decision | undefined,
    ) {
      if (request.url.split('?')[0] !== '/') throw new NotFoundException()
      const { status, body, chunks } = await site.handle(decision)
      const raw = response.raw ?? response
      if (raw.headersSent) return
      if (chunks === undefined) return void response.status(status).send(body)
      response.hijack?.()
      raw.setHeaders(new Map(Object.entries(response.getHeaders() as Record<string, string>)))
      await writeChunks(raw, chunks)
    }
  }

  /** A filter like Nest's own, except for what the suite watches. */
  @Catch()
  class Filter extends BaseExceptionFilter implements ExceptionFilter {
    constructor(@Inject(HttpAdapterHost) host: HttpAdapterHost) {
      super(host.httpAdapter)
    }
    override catch(error: unknown, host: ArgumentsHost) {
      const throws = site.limiters.some(({ respond }) => respond === 'throw')
      if (throws && error instanceof RateLimitException) site.failed(error.cause)
      if (error instanceof HttpException) super.catch(error, host)
      else {
        site.failed(error)
        host.switchToHttp().getResponse<NestResponse>().status(500).send()
      }
    }
  }

  @Module({ controllers: [SiteController] })
  class SiteModule {}

  return { SiteModule, Filter }
}

const guardsOf = (site: NestSite) =>
  middlewareOf(site, (options) => new RateLimitGuard(new RateLimits(options)))

export const onExpress: AdapterKit<NestRequest, NestResponse> = {
  async serve(site) {
    const { SiteModule, Filter } = applicationOf(site, '{*path}')
    const app = await NestFactory.create<NestExpressApplication>(SiteModule, { logger: false })
    if (site.trustProxy !== undefined) app.set('trust proxy', site.trustProxy)
    app.use((request: Request, response: Response, next: NextFunction) => {
      Object.assign(request, { user: site.user(request) })
      response.set(site.fields)
      if (site.early !== undefined) response.end(site.early)
      next()
    })
    app.useGlobalGuards(...guardsOf(site))
    app.useGlobalFilters(new Filter(app.get(HttpAdapterHost)))
    await app.init()
    return app.getHttpServer()
  },
  read,
  send: (response, body) => response.send(body),
  unsafeTrust: [
    [true, 'SLUICE_PROXY_EVERYBODY'],
    [1, 'SLUICE_PROXY_HOPS'],
  ],
}

export const onFastify: AdapterKit<NestRequest, NestResponse> = {
  async serve(site) {
    const { SiteModule, Filter } = applicationOf(site, '*')
    const adapter = new FastifyAdapter({ trustProxy: site.trustProxy as string[] })
    const app = await NestFactory.create<NestFastifyApplication>(SiteModule, adapter, {
      logger: false,
    })
    const fastify = adapter.getInstance()
    fastify.addHook('onRequest', async (request, reply) => {
      Object.assign(request, { user: site.user(request as unknown as NestRequest) })
      reply.headers(site.fields)
      if (site.early !== undefined) reply.raw.end(site.early)
    })
    app.useGlobalGuards(...guardsOf(site))
    app.useGlobalFilters(new Filter(app.get(HttpAdapterHost)))
    await app.init()
    await fastify.ready()
    return app.getHttpServer()
  },
  read,
  send: (response, body) => response.send(body),
  unsafeTrust: [
    [true, 'SLUICE_PROXY_EVERYBODY'],
    [1, 'SLUICE_PROXY_HOPS'],
  ],
}
