// The documents that the generators of Fastify and of Nest make, with the limits in them.

import 'reflect-metadata'
import swagger from '@fastify/swagger'
import { afterEach, describe, expect, test } from '@jest/globals'
import { Controller, Get, Module, Post, type Type, UseGuards, VersioningType } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import { ApiExtension, ApiOperation, DocumentBuilder, SwaggerModule } from '@nestjs/swagger'
import { rateLimit } from '@sluice/fastify'
import { RateLimit, RateLimitGuard, RateLimitModule, RateLimits, SkipRateLimit } from '@sluice/nest'
import fastify from 'fastify'

const LIMIT = { limit: 100, window: '1m' } as const

/** The statuses of each operation that has one, by `get /path`. */
function statusesOf(document: { paths?: object }): Record<string, string> {
  const items = Object.entries(document.paths ?? {}) as [
    string,
    Record<string, { responses: object }>,
  ][]
  return Object.fromEntries(
    items.flatMap(([path, item]) =>
      Object.entries(item).map(([method, { responses }]) => [
        `${method} ${path}`,
        Object.keys(responses).join(' '),
      ]),
    ),
  )
}

describe('@fastify/swagger', () => {
  test('transformObject: app.rateLimit.openapi() describes the routes', async () => {
    const app = fastify()
    await app.register(rateLimit, LIMIT)
    await app.register(swagger, {
      openapi: { openapi: '3.1.0', servers: [{ url: 'https://api.example.com/v1' }] },
      transformObject: app.rateLimit.openapi(),
    })
    const handler = async () => 'served'
    app.get('/health', { config: { rateLimit: false } }, handler)
    app.get('/users/:id', { config: { rateLimit: { statusCode: 403 } } }, handler)
    app.get('/v1/users/me', { config: { rateLimit: { statusCode: 404 } } }, handler)
    app.get(
      '/at/:hour(^\\d{2})h:minute(^(\\d{2})$)m',
      { config: { rateLimit: { statusCode: 402 } } },
      handler,
    )
    app.get('/files/*', { config: { rateLimit: { statusCode: 503 } } }, handler)
    app.post('/name::verb', handler)
    await app.ready()
    const document = app.swagger()
    expect(statusesOf(document)).toEqual({
      'get /health': '200',
      'get /users/{id}': '200 403',
      'get /users/me': '200 404',
      'get /at/{hour}h{minute}m': '200 402',
      'get /files/{*}': '200 503',
      'post /name:verb': '200 429',
    })
    expect(document).toHaveProperty('components.responses.RateLimited.headers.Retry-After')
    expect(app.swagger({ yaml: true })).toContain('RateLimited')
    await app.close()
  })

  test('only the routes of its context', async () => {
    const app = fastify()
    await app.register(swagger, {
      openapi: {},
      transformObject: (given) => transform(given),
    })
    let transform: ReturnType<typeof app.rateLimit.openapi>
    app.get('/outside', async () => 'served')
    await app.register(async (scope) => {
      await scope.register(rateLimit, LIMIT)
      transform = scope.rateLimit.openapi()
      scope.get('/inside', async () => 'served')
    })
    await app.ready()
    expect(statusesOf(app.swagger())).toEqual({ 'get /outside': '200', 'get /inside': '200 429' })
    await app.close()
  })

  test('before the application is ready, and of Swagger 2.0, it is an error', async () => {
    const app = fastify()
    await app.register(rateLimit, LIMIT)
    const transform = app.rateLimit.openapi()
    const given = { openapiObject: { openapi: '3.1.0' } }
    expect(() => transform(given)).toThrow(/await app.ready\(\)/)
    await app.ready()
    expect(transform(given)).toEqual({ openapi: '3.1.0', paths: {} })
    expect(() => transform({ swaggerObject: { swagger: '2.0' } })).toThrow(/Swagger 2.0/)
    await app.close()
  })
})

describe('@nestjs/swagger', () => {
  const close: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const each of close.splice(0)) await each()
  })

  async function documentsOf(controllers: Type[], isGlobal: boolean) {
    class App {}
    Module({
      imports: [RateLimitModule.forRoot(LIMIT)],
      controllers,
      providers: isGlobal ? [{ provide: APP_GUARD, useClass: RateLimitGuard }] : [],
    })(App)
    const app = await NestFactory.create(App, { logger: false })
    app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI })
    await app.init()
    close.push(() => app.close())
    const create = () => SwaggerModule.createDocument(app, new DocumentBuilder().build())
    return { published: await app.get(RateLimits).openapi(create), plain: create() }
  }

  class Base {
    @Get('shared')
    shared() {}
  }

  @Controller({ path: 'users', version: '2' })
  class Users extends Base {
    @Get(':id')
    @ApiOperation({ operationId: 'readUser' })
    @ApiExtension('x-own', 'kept')
    @RateLimit({ statusCode: 403 })
    read() {}

    @Post()
    create() {}

    @Get('free')
    @SkipRateLimit()
    free() {}
  }

  test('limits.openapi describes the handlers', async () => {
    const { published, plain } = await documentsOf([Users], true)
    expect(statusesOf(published)).toEqual({
      'get /api/v2/users/shared': '200 429',
      'get /api/v2/users/{id}': '200 403',
      'post /api/v2/users': '201 429',
      'get /api/v2/users/free': '200',
    })
    expect(JSON.stringify([published, plain])).not.toContain('x-sluice')
    expect(plain.paths['/api/v2/users/{id}']?.get).toHaveProperty('x-own', 'kept')
    expect(published.paths['/api/v2/users/{id}']?.get).toHaveProperty('x-own', 'kept')
    expect(statusesOf(plain)).toMatchObject({ 'post /api/v2/users': '201' })
  })

  class Own extends RateLimitGuard {}

  @Controller('mixed')
  class Mixed {
    @Get('limited')
    @UseGuards(Own)
    limited() {}

    @Get('open')
    open() {}
  }

  test('only those that have the guard, if it is not the guard of all', async () => {
    const { published } = await documentsOf([Mixed], false)
    expect(statusesOf(published)).toEqual({
      'get /api/mixed/limited': '200 429',
      'get /api/mixed/open': '200',
    })
  })

  test('a document in place of the function is an error', async () => {
    const limits = new RateLimits(LIMIT)
    await expect(limits.openapi({ openapi: '3.0.0' } as never)).rejects.toMatchObject({
      option: 'create',
      fix: expect.stringContaining('SwaggerModule.createDocument'),
    })
  })
})
