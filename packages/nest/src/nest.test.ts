import 'reflect-metadata'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, IncomingMessage, type Server } from 'node:http'
import { Socket } from 'node:net'
import { inspect } from 'node:util'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  type HttpException,
  type INestApplication,
  Inject,
  Injectable,
  type LogLevel,
  Module,
  type ModuleMetadata,
  NotFoundException,
  Param,
  Post,
  type Type,
  UseFilters,
  UseGuards,
} from '@nestjs/common'
import {
  type AbstractHttpAdapter,
  APP_FILTER,
  APP_GUARD,
  BaseExceptionFilter,
  NestFactory,
} from '@nestjs/core'
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { Test } from '@nestjs/testing'
import { until } from '@sluice/test-harness/redis'
import request from 'supertest'
import {
  type Decision,
  memoryStore,
  RateLimit,
  type RateLimitAsyncOptions,
  RateLimitDecision,
  RateLimitError,
  RateLimitException,
  RateLimitGuard,
  RateLimitModule,
  type RateLimitOptionsFactory,
  RateLimits,
  SkipRateLimit,
} from './index.ts'

const guard = { provide: APP_GUARD, useClass: RateLimitGuard }
const options = { limit: 2, window: '1d' } as const
const base = RateLimitModule.forRoot(options)

const applications: INestApplication[] = []
afterEach(async () => {
  await Promise.all(applications.splice(0).map((app) => app.close()))
})

interface Started {
  app: INestApplication
  server: Server
}

const platforms = [
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
] as const

async function start(
  metadata: ModuleMetadata,
  adapter: ExpressAdapter | FastifyAdapter = new ExpressAdapter(),
  logger: LogLevel[] | false = false,
): Promise<Started> {
  @Module(metadata)
  class AppModule {}
  const app = await NestFactory.create(AppModule, adapter as AbstractHttpAdapter, {
    logger,
    abortOnError: false,
  })
  applications.push(app)
  await app.init()
  if (adapter instanceof FastifyAdapter) await adapter.getInstance().ready()
  return { app, server: app.getHttpServer() }
}

/** What so many requests get, one after the other. */
async function statuses(server: Server, path: string, count: number): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < count; i += 1) found.push((await request(server).get(path)).status)
  return found
}

@Controller('items')
class ItemsController {
  @Get()
  list(@RateLimitDecision() decision: Decision | undefined) {
    return { remaining: decision?.remaining }
  }

  @Get('search')
  @RateLimit({ limit: 1, window: '1d' })
  search() {
    return 'found'
  }

  @Get('health')
  @SkipRateLimit()
  health(@RateLimitDecision() decision: Decision | undefined) {
    return { exempt: decision === undefined }
  }
}

describe.each(platforms)('on %s', (_, platform) => {
  it('limits every handler together, those with limits of their own apart, and not the exempt', async () => {
    const { server } = await start(
      { imports: [base], controllers: [ItemsController], providers: [guard] },
      platform(),
    )
    expect(await statuses(server, '/items/search', 2)).toEqual([200, 429])
    expect(await statuses(server, '/items', 3)).toEqual([200, 200, 429])
    const { body, headers } = await request(server).get('/items/health')
    expect(body).toEqual({ exempt: true })
    expect(headers).not.toHaveProperty('ratelimit')
  })

  it('settles by the status and the fields that both platforms have', async () => {
    @Controller('logins')
    class LoginsController {
      @Get(':outcome')
      @RateLimit({
        limit: 1,
        window: '1d',
        cost: 0,
        settle: (_, response) =>
          response.statusCode < 400 && response.getHeader('RateLimit-Limit') === '1' ? 0 : 1,
      })
      login(@Param('outcome') outcome: string) {
        if (outcome === 'wrong') throw new NotFoundException()
      }
    }
    const { server } = await start(
      { imports: [base], controllers: [LoginsController], providers: [guard] },
      platform(),
    )
    expect(await statuses(server, '/logins/right', 2)).toEqual([200, 200])
    expect(await statuses(server, '/logins/wrong', 2)).toEqual([404, 429])
  })

  it("publishes the handler's pattern with its events", async () => {
    @Controller('users')
    class UsersController {
      @Get(':id')
      show() {}
    }
    const { server } = await start(
      { imports: [base], controllers: [UsersController], providers: [guard] },
      platform(),
    )
    const routes: unknown[] = []
    const listener = (event: unknown) => routes.push((event as { route: unknown }).route)
    subscribe('sluice:decision', listener)
    await request(server).get('/users/42')
    unsubscribe('sluice:decision', listener)
    expect(routes).toEqual(['/users/:id'])
  })

  it('gives the decision to a parameter', async () => {
    const { server } = await start(
      { imports: [base], controllers: [ItemsController], providers: [guard] },
      platform(),
    )
    expect((await request(server).get('/items')).body).toEqual({ remaining: 1 })
  })

  it('refuses with the problem document, which filters see as an exception', async () => {
    const seen: unknown[] = []
    @Catch(RateLimitException)
    class Filter implements ExceptionFilter {
      catch(error: RateLimitException, host: ArgumentsHost) {
        seen.push(error)
        host.switchToHttp().getResponse().status(error.getStatus()).send({ mine: true })
      }
    }
    @Controller('filtered')
    @UseFilters(new Filter())
    class Filtered {
      @Get()
      handle() {}
    }
    const controllers = [ItemsController, Filtered]
    const { server } = await start({ imports: [base], controllers, providers: [guard] }, platform())
    await statuses(server, '/items', 2)
    const refused = await request(server).get('/items')
    expect(refused.headers['content-type']).toMatch(/^application\/problem\+json/)
    expect(refused.body).toMatchObject({ title: 'Quota Exceeded', status: 429 })
    expect(refused.headers).toHaveProperty('retry-after')

    const filtered = await request(server).get('/filtered')
    expect(filtered.status).toBe(429)
    expect(filtered.body).toEqual({ mine: true })
    expect(filtered.headers['content-type']).toMatch(/^application\/json/)
    expect(filtered.headers).toHaveProperty('retry-after')
    const [error] = seen as [RateLimitException]
    expect(error.cause).toBeInstanceOf(RateLimitError)
    expect(error.cause.decision).toMatchObject({ allowed: false, limit: 2 })
    expect(error.message).toBe('Quota Exceeded')
    expect(error.getResponse()).toMatchObject({ title: 'Quota Exceeded', status: 429 })
  })

  it('logs no refusal, by whatever it is thrown, and an exception shows no key', async () => {
    const logged: string[] = []
    const write = jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
      // Node's own warnings are written there too.
      if (String(text).includes('[Nest]')) logged.push(String(text))
      return true
    })
    @Catch(RateLimitException)
    class Logging extends BaseExceptionFilter {
      override catch(error: RateLimitException, host: ArgumentsHost) {
        logged.push(inspect(error, { depth: 9 }), JSON.stringify([error, error.getResponse()]))
        super.catch(error, host)
      }
    }
    @Controller()
    class Throwing {
      @Get('thrown')
      @RateLimit({ limit: 0, window: '1d', key: () => 'secret', respond: 'throw' })
      thrown() {}

      @Get('sent')
      @RateLimit({ limit: 0, window: '1d', key: () => 'secret' })
      sent() {}
    }
    const { server } = await start(
      { imports: [base], controllers: [Throwing], providers: [guard] },
      platform(),
      ['error', 'warn'],
    )
    const ask = async (path: string) => {
      const { status, headers, body } = await request(server).get(path)
      expect([status, headers['content-type'], body]).toEqual([
        429,
        expect.stringMatching(/^application\/problem\+json/),
        expect.objectContaining({ title: 'Quota Exceeded', status: 429 }),
      ])
      expect(headers).toHaveProperty('retry-after')
    }
    await ask('/thrown')
    await ask('/sent')
    expect(logged).toEqual([])
    const again = await start(
      {
        imports: [base],
        controllers: [Throwing],
        providers: [guard, { provide: APP_FILTER, useClass: Logging }],
      },
      platform(),
    )
    expect((await request(again.server).get('/sent')).status).toBe(429)
    write.mockRestore()
    expect(logged).toHaveLength(2)
    expect(logged.join()).not.toMatch(/secret/)
  })

  it('an exception is plain data, whenever it is serialized, and changes no other body', async () => {
    const seen: RateLimitException[] = []
    @Catch(RateLimitException)
    class Logging implements ExceptionFilter {
      catch(error: RateLimitException, host: ArgumentsHost) {
        seen.push(error)
        JSON.stringify(error.getResponse())
        const response = host.switchToHttp().getResponse()
        response.status(429).send({ ...(error.getResponse() as object), mine: true })
      }
    }
    const { server } = await start(
      {
        imports: [base],
        controllers: [ItemsController],
        providers: [guard, { provide: APP_FILTER, useClass: Logging }],
      },
      platform(),
    )
    await statuses(server, '/items', 2)
    const { body, headers } = await request(server).get('/items')
    expect(body).toMatchObject({ mine: true, status: 429 })
    expect(headers['content-type']).toMatch(/^application\/json/)
    const [error] = seen as [RateLimitException]
    expect(structuredClone(error.getResponse())).toEqual(body.mine && error.getResponse())
    expect(JSON.parse(JSON.stringify(error.getResponse()))).toEqual(error.getResponse())
  })

  it('a filter that logs, then leaves the response to Nest, sends the problem document', async () => {
    const logged: string[] = []
    @Catch()
    class Logging extends BaseExceptionFilter {
      override catch(error: unknown, host: ArgumentsHost) {
        logged.push(JSON.stringify((error as HttpException).getResponse()))
        super.catch(error, host)
      }
    }
    @Controller()
    class Failing {
      @Get()
      fail() {
        throw new NotFoundException('nothing here')
      }
    }
    const { server } = await start(
      {
        imports: [base],
        controllers: [Failing],
        providers: [guard, { provide: APP_FILTER, useClass: Logging }],
      },
      platform(),
    )
    const types: unknown[] = []
    for (let i = 0; i < 3; i += 1) {
      const { status, headers } = await request(server).get('/')
      types.push(status, headers['content-type']?.split(';')[0])
    }
    expect(types).toEqual([
      ...[404, 'application/json', 404, 'application/json'],
      ...[429, 'application/problem+json'],
    ])
    expect(logged).toHaveLength(3)
  })

  it('sends what respond returns, and leaves what it has sent', async () => {
    @Controller()
    class Responding {
      @Get('returned')
      @RateLimit({ limit: 1, window: '1d', respond: ({ limit }) => ({ slow: limit }) })
      returned() {}

      @Get('sent')
      @RateLimit({
        limit: 1,
        window: '1d',
        respond: (_decision, _request, response) => {
          response.status(503).send('later')
        },
      })
      sent() {}
    }
    const { server } = await start(
      { imports: [base], controllers: [Responding], providers: [guard] },
      platform(),
    )
    await statuses(server, '/returned', 1)
    const returned = await request(server).get('/returned')
    expect([returned.status, returned.body]).toEqual([429, { slow: 1 }])
    await statuses(server, '/sent', 1)
    const sent = await request(server).get('/sent')
    expect([sent.status, sent.text]).toEqual([503, 'later'])
  })
})

describe('@RateLimit', () => {
  @Controller('orders')
  @RateLimit({ limit: 1, window: '1d' })
  class OrdersController {
    @Get('a')
    first() {}

    @Get('b')
    second() {}

    @Get('c')
    @RateLimit({ limit: 2, window: '1d' })
    third() {}

    @Post('d')
    @SkipRateLimit()
    fourth() {}
  }

  it('on a class counts each handler separately, and a handler has its own options first', async () => {
    const { server } = await start({
      imports: [base],
      controllers: [OrdersController],
      providers: [guard],
    })
    expect(await statuses(server, '/orders/a', 2)).toEqual([200, 429])
    expect(await statuses(server, '/orders/b', 2)).toEqual([200, 429])
    expect(await statuses(server, '/orders/c', 3)).toEqual([200, 200, 429])
    await request(server).post('/orders/d').expect(201)
    await request(server).post('/orders/d').expect(201)
  })

  it('counts controllers of the same name apart, and methods that another decorator wraps', async () => {
    const wrap: MethodDecorator = (_target, _key, descriptor) => {
      const { value } = descriptor
      const wrapped = (() => (value as unknown as () => unknown)()) as never
      return { ...descriptor, value: wrapped }
    }
    const controller = (path: string): Type => {
      @Controller(path)
      class Same {
        @Get('a')
        @RateLimit({ limit: 1, window: '1d' })
        @wrap
        first() {}

        @Get('b')
        @RateLimit({ limit: 1, window: '1d' })
        @wrap
        second() {}
      }
      return Same
    }
    const controllers = [controller('x'), controller('y')]
    const { server } = await start({ imports: [base], controllers, providers: [guard] })
    for (const path of ['/x/a', '/x/b', '/y/a', '/y/b'])
      expect(await statuses(server, path, 2)).toEqual([200, 429])
  })

  it('with wrong options rejects the start, and names the handler', async () => {
    @Controller()
    class Wrong {
      @Get()
      @RateLimit({ limit: 0.5, window: '1d' })
      handle() {}
    }
    await expect(start({ imports: [base], controllers: [Wrong] })).rejects.toThrow(
      /Wrong\.handle: @RateLimit\.limit/,
    )
  })
})

describe('RateLimitGuard', () => {
  it('counts in one place wherever it is used', async () => {
    @Controller('a')
    @UseGuards(RateLimitGuard)
    class First {
      @Get()
      handle() {}
    }
    @Controller('b')
    class Second {
      @Get()
      @UseGuards(RateLimitGuard)
      handle() {}

      @Get('free')
      free() {}
    }
    @Module({ controllers: [Second] })
    class Feature {}
    const { server } = await start({ imports: [base, Feature], controllers: [First] })
    expect(await statuses(server, '/a', 1)).toEqual([200])
    expect(await statuses(server, '/b', 2)).toEqual([200, 429])
    expect(await statuses(server, '/b/free', 1)).toEqual([200])
  })
})

describe('several guards on one handler', () => {
  @Controller()
  @UseGuards(RateLimitGuard)
  class Guarded {
    @Get('once')
    @UseGuards(RateLimitGuard)
    @RateLimit({ limit: 1, window: '1d' })
    once() {}
  }

  it.each(platforms)('count a request once, on %s', async (_, platform) => {
    const { server } = await start(
      { imports: [base], controllers: [Guarded], providers: [guard] },
      platform(),
    )
    expect(await statuses(server, '/once', 2)).toEqual([200, 429])
  })

  it('count twice with limiters of their own', async () => {
    @Controller()
    class Twice {
      @Get('items')
      list() {}
    }
    const providers = [3, 2].map((limit) => ({
      provide: APP_GUARD,
      useValue: new RateLimitGuard(new RateLimits({ limit, window: '1d' })),
    }))
    const { server } = await start({ controllers: [Twice], providers })
    expect(await statuses(server, '/items', 3)).toEqual([200, 200, 429])
  })
})

describe('RateLimitGuard without a response', () => {
  class GatewayGuard extends RateLimitGuard {
    protected override getRequest(context: { getArgByIndex(index: number): unknown }) {
      return { request: (context.getArgByIndex(0) as { handshake: IncomingMessage }).handshake }
    }
  }
  class Gateway {
    message() {}
  }

  /**
   * What the guard says of so many messages of one connection, one after the other; at last, whether
   * it has left the decision on its request.
   */
  async function messages(count: number, problems: object[]): Promise<unknown[]> {
    const gateway = new GatewayGuard(new RateLimits(options))
    const server = createServer(async (handshake, response) => {
      const said: unknown[] = []
      for (let i = 0; i < count; i += 1) {
        const context = new ExecutionContextHost(
          [{ handshake }, 'data'],
          Gateway,
          Gateway.prototype.message,
        )
        const decide = async () => gateway.canActivate(context)
        said.push(
          await decide().catch((error: RateLimitException) => {
            problems.push(error.getResponse() as object)
            return error.getStatus()
          }),
        )
      }
      response.end(JSON.stringify([...said, 'rateLimit' in handshake]))
    })
    return JSON.parse((await request(server).get('/')).text)
  }

  it('counts the messages of a connection, which leave nothing on its request', async () => {
    const problems: object[] = []
    expect(await messages(4, problems)).toEqual([true, true, 429, 429, false])
    // Joined with earlier messages, the policy would have another name each time.
    expect(problems).toEqual([
      expect.objectContaining({ 'violated-policies': ['default'] }),
      expect.objectContaining({ 'violated-policies': ['default'] }),
    ])
  })

  it.each([
    ['settle', { ...options, settle: () => 1 }],
    ['concurrent', { concurrent: 1 }],
  ])('rejects what a connection would hold for each message: %s', (_, held) => {
    const handshake = new IncomingMessage(new Socket())
    const context = new ExecutionContextHost([{ handshake }], Gateway, Gateway.prototype.message)
    const gateway = new GatewayGuard(new RateLimits(held as never))
    expect(() => gateway.canActivate(context)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_CONFLICT' }),
    )
  })
})

describe('RateLimitModule', () => {
  it('gives the limiters to the application, for its own calls', async () => {
    const { app, server } = await start({
      imports: [base],
      controllers: [ItemsController],
      providers: [guard],
    })
    await app.get(RateLimits).limiter.block('127.0.0.1', '1h')
    await app.get(RateLimits).limiter.block('::1', '1h')
    expect(await statuses(server, '/items', 1)).toEqual([429])
    expect(await statuses(server, '/items/search', 1)).toEqual([429])
  })

  it('takes options that Nest makes', async () => {
    class Config {
      readonly limit = 1
    }
    @Module({ providers: [Config], exports: [Config] })
    class ConfigModule {}
    const { server } = await start({
      imports: [
        RateLimitModule.forRootAsync({
          imports: [ConfigModule],
          inject: [Config],
          useFactory: async ({ limit }: Config) => ({ limit, window: '1d' }),
        }),
      ],
      controllers: [ItemsController],
      providers: [guard],
    })
    expect(await statuses(server, '/items', 2)).toEqual([200, 429])
  })

  describe('takes a class that makes options', () => {
    @Injectable()
    class Plans {
      readonly limit = 1
    }
    @Injectable()
    class LimitOptions implements RateLimitOptionsFactory {
      readonly plans: Plans
      constructor(plans: Plans) {
        this.plans = plans
      }
      async createRateLimitOptions() {
        return { limit: this.plans.limit, window: '1d' } as const
      }
    }
    Inject(Plans)(LimitOptions, undefined as never, 0)
    @Module({ providers: [Plans], exports: [Plans] })
    class PlansModule {}
    @Module({ imports: [PlansModule], providers: [LimitOptions], exports: [LimitOptions] })
    class OptionsModule {}

    it.each<[string, RateLimitAsyncOptions]>([
      ['useClass', { imports: [PlansModule], useClass: LimitOptions }],
      ['useExisting', { imports: [OptionsModule], useExisting: LimitOptions }],
    ])('%s', async (_, asyncOptions) => {
      const { server } = await start({
        imports: [RateLimitModule.forRootAsync(asyncOptions)],
        controllers: [ItemsController],
        providers: [guard],
      })
      expect(await statuses(server, '/items', 2)).toEqual([200, 429])
    })

    it.each([
      ['none', {}],
      ['two', { useFactory: () => options, useClass: LimitOptions }],
    ])('%s of the ways is an error', (_, asyncOptions) => {
      expect(() => RateLimitModule.forRootAsync(asyncOptions as never)).toThrow(
        expect.objectContaining({ code: 'SLUICE_OPTION_CONFLICT' }),
      )
    })
  })

  it('rejects the start if it is imported twice with options', async () => {
    @Module({ imports: [RateLimitModule.forRoot({ limit: 5, window: '1m' })] })
    class Feature {}
    await expect(start({ imports: [base, Feature] })).rejects.toThrow(
      expect.objectContaining({
        code: 'SLUICE_OPTION_CONFLICT',
        option: 'RateLimitModule.forRoot',
      }),
    )
    @Module({ imports: [base] })
    class Same {}
    await expect(start({ imports: [base, Same] })).resolves.toBeDefined()
  })

  it('is switched off in tests by a provider of RateLimits', async () => {
    let asked = 0
    @Module({
      imports: [
        RateLimitModule.forRootAsync({
          useFactory: () => {
            asked += 1
            return options
          },
        }),
      ],
      controllers: [ItemsController],
      providers: [guard],
    })
    class AppModule {}
    const off = new RateLimits({ limit: 1, window: '1s', skip: () => true })
    const testing = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(RateLimits)
      .useValue(off)
      .compile()
    const app = testing.createNestApplication()
    applications.push(app)
    await app.init()
    const server = app.getHttpServer()
    expect(await statuses(server, '/items', 3)).toEqual([200, 200, 200])
    expect(await statuses(server, '/items/search', 2)).toEqual([200, 200])
    expect(asked).toBe(0)
  })

  it.each([
    ['no limit', {}],
    ['an option of another adapter', { ...options, routes: {} }],
  ])('rejects the start for wrong options: %s', async (_, wrong) => {
    await expect(start({ imports: [RateLimitModule.forRoot(wrong as never)] })).rejects.toThrow(
      expect.objectContaining({ name: 'SluiceError' }),
    )
  })

  it('lets requests that wait go on while the application closes', async () => {
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    let seen = 0
    const skip = () => {
      seen += 1
      return false
    }
    @Controller()
    class Working {
      @Get()
      async handle() {
        await finished
      }
    }
    const limit = { concurrent: 1, maxWait: '1m', key: () => 'all', skip } as const
    const { app, server } = await start({
      imports: [RateLimitModule.forRoot(limit)],
      controllers: [Working],
      providers: [guard],
    })
    await app.listen(0, '127.0.0.1')
    const asked = [1, 2].map(async () => (await request(server).get('/')).status)
    await until(() => seen === 2, { what: 'one is served, and one waits' })
    const closed = app.close()
    await until(() => !server.listening, { what: 'it closes its connections' })
    finish()
    expect(await Promise.all(asked)).toEqual([200, 200])
    await closed
  })

  it('closes its limiters with the application', async () => {
    const store = memoryStore()
    const closed: string[] = []
    @Controller()
    class Closing {
      @Get()
      handle() {}
    }
    const { app } = await start({
      imports: [RateLimitModule.forRoot({ ...options, store })],
      controllers: [Closing],
    })
    const { limiter } = app.get(RateLimits)
    const close = limiter.close.bind(limiter)
    limiter.close = () => {
      closed.push('limiter')
      close()
    }
    await app.close()
    expect(closed).toEqual(['limiter'])
  })
})
