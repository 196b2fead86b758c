import 'reflect-metadata'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, IncomingMessage, type Server } from 'node:http'
import { Socket } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  type INestApplication,
  Module,
  type ModuleMetadata,
  Post,
  type Type,
  UseFilters,
  UseGuards,
} from '@nestjs/common'
import { type AbstractHttpAdapter, APP_GUARD, NestFactory } from '@nestjs/core'
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import request from 'supertest'
import {
  type Decision,
  memoryStore,
  RateLimit,
  RateLimitDecision,
  RateLimitError,
  RateLimitException,
  RateLimitGuard,
  RateLimitModule,
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
): Promise<Started> {
  @Module(metadata)
  class AppModule {}
  const app = await NestFactory.create(AppModule, adapter as AbstractHttpAdapter, {
    logger: false,
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

  it.each([
    ['no limit', {}],
    ['an option of another adapter', { ...options, routes: {} }],
  ])('rejects the start for wrong options: %s', async (_, wrong) => {
    await expect(start({ imports: [RateLimitModule.forRoot(wrong as never)] })).rejects.toThrow(
      expect.objectContaining({ name: 'SluiceError' }),
    )
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
