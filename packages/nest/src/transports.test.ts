// GraphQL, microservices and gateways, with the guards and filters of docs/nest.md as they are written there.

import 'reflect-metadata'
import { on, once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo'
import {
  Controller,
  type ExecutionContext,
  Get,
  type INestApplication,
  Module,
  type ModuleMetadata,
  type Type,
  UseFilters,
  UseGuards,
} from '@nestjs/common'
import { type AbstractHttpAdapter, APP_FILTER, APP_GUARD, NestFactory } from '@nestjs/core'
import { GraphQLModule, Query, Resolver, Subscription } from '@nestjs/graphql'
import { ClientProxyFactory, MessagePattern, Payload, Transport } from '@nestjs/microservices'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { IoAdapter } from '@nestjs/platform-socket.io'
import { WsAdapter } from '@nestjs/platform-ws'
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets'
import { firstValueFrom } from 'rxjs'
import { io } from 'socket.io-client'
import request from 'supertest'
import { WebSocket } from 'ws'
import {
  type Decision,
  RateLimit,
  RateLimitDecision,
  RateLimitGuard,
  RateLimitModule,
  SkipRateLimit,
} from './index.ts'

const {
  GraphQLRateLimitGuard,
  GraphQLRefusalFilter,
  GatewayRateLimitGuard,
  GatewayRefusalFilter,
  HandshakeGateway,
  TcpRateLimitGuard,
  TcpRefusalFilter,
  WsRefusalFilter,
} = documented()

/** What the page exports. */
function documented(): Record<string, Type> {
  const page = readFileSync(join(__dirname, '../../../docs/nest.md'), 'utf8')
  const sections = page.slice(0, page.indexOf('## With '))
  const blocks = [...sections.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, source]) => source)
  const folder = mkdtempSync(join(__dirname, '../.blocks-'))
  try {
    const exported = blocks.map((source = '', i) => {
      const file = join(folder, `${i}.ts`)
      writeFileSync(file, source.replace("'@sluice/nest'", "'../src/index.ts'"))
      return require(file)
    })
    return Object.assign({}, ...exported)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const limited = RateLimitModule.forRoot({ limit: 2, window: '1d' })

const applications: INestApplication[] = []
afterEach(async () => {
  await Promise.all(applications.splice(0).map((app) => app.close()))
})

async function start(
  metadata: ModuleMetadata,
  adapter?: (app: INestApplication) => IoAdapter | WsAdapter,
): Promise<Server> {
  @Module(metadata)
  class AppModule {}
  const app = await NestFactory.create(AppModule, { logger: false })
  applications.push(app)
  if (adapter !== undefined) app.useWebSocketAdapter(adapter(app))
  await app.listen(0, '127.0.0.1')
  return app.getHttpServer()
}

it('limits the resolvers of Apollo, each with its limit, and the controllers beside them', async () => {
  @Resolver()
  @UseFilters(GraphQLRefusalFilter as Type)
  class Queries {
    @Query()
    hello() {
      return 'hello'
    }

    @Query()
    @RateLimit({ limit: 1, window: '1d' })
    search() {
      return 'found'
    }

    @Query()
    @SkipRateLimit()
    health() {
      return 'ok'
    }
  }
  @Controller('rest')
  class Rest {
    @Get()
    handle() {
      return 'rest'
    }
  }
  const server = await start({
    imports: [
      limited,
      GraphQLModule.forRoot<ApolloDriverConfig>({
        driver: ApolloDriver,
        typeDefs: 'type Query { hello: String search: String health: String }',
        context: ({ req, res }: { req: object; res: object }) => ({ req, res }),
      }),
    ],
    controllers: [Rest],
    providers: [Queries, { provide: APP_GUARD, useClass: GraphQLRateLimitGuard as Type }],
  })
  const ask = (query: string) => request(server).post('/graphql').send({ query })

  const first = await ask('{ hello search health }')
  expect(first.body).toEqual({ data: { hello: 'hello', search: 'found', health: 'ok' } })
  expect(first.headers).toHaveProperty('ratelimit')

  const second = await ask('{ hello search }')
  expect([second.status, second.body.data]).toEqual([200, { hello: 'hello', search: null }])
  expect(second.body.errors).toMatchObject([
    {
      message: 'Quota Exceeded',
      path: ['search'],
      extensions: { code: 'RATE_LIMITED', retryAfterMs: expect.any(Number) },
    },
  ])
  expect(second.headers).toHaveProperty('retry-after')

  const refused = await request(server).get('/rest')
  expect(refused.status).toBe(429)
  expect(refused.headers['content-type']).toMatch(/^application\/problem\+json/)
})

describe('subscriptions over graphql-ws', () => {
  const keys: string[] = []

  async function subscribing(guard: Type) {
    @Resolver()
    class Ticks {
      @Query()
      hello() {
        return 'hello'
      }

      @Subscription()
      async *tick() {
        yield { tick: 'tock' }
      }
    }
    keys.length = 0
    const server = await start({
      imports: [
        RateLimitModule.forRoot({
          limit: 2,
          window: '1d',
          onDecision: (_, __, key) => void keys.push(key),
        }),
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          typeDefs: 'type Query { hello: String } type Subscription { tick: String }',
          subscriptions: { 'graphql-ws': true },
          context: ({ req, res }: { req: object; res: object }) => ({ req, res }),
        }),
      ],
      providers: [Ticks, { provide: APP_GUARD, useClass: guard }],
    })
    const { port } = server.address() as AddressInfo
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws')
    await once(socket, 'open')
    const next = async () => JSON.parse(String((await once(socket, 'message'))[0]))
    const send = (message: object) => socket.send(JSON.stringify(message))
    send({ type: 'connection_init' })
    expect(await next()).toMatchObject({ type: 'connection_ack' })
    return async (id: string) => {
      const answers: { type: string; payload?: unknown }[] = []
      const done = (async () => {
        for await (const [data] of on(socket, 'message')) {
          answers.push(JSON.parse(String(data)))
          if (['complete', 'error'].includes(answers.at(-1)?.type as string)) return answers
        }
        return answers
      })()
      send({ id, type: 'subscribe', payload: { query: 'subscription { tick }' } })
      return JSON.stringify(await done)
    }
  }

  it('are counted by the address of their handshake', async () => {
    const subscribe = await subscribing(GraphQLRateLimitGuard as Type)
    expect(await subscribe('1')).toContain('tock')
    expect(await subscribe('2')).toContain('tock')
    expect(await subscribe('3')).toContain('Quota Exceeded')
    expect(new Set(keys)).toEqual(new Set(['127.0.0.1']))
  })

  it('what is not a request is an error', async () => {
    class Careless extends RateLimitGuard {
      protected override getRequest(context: ExecutionContext) {
        const { req = {} } = context.getArgByIndex(2)
        return { request: req }
      }
    }
    const subscribe = await subscribing(Careless)
    expect(await subscribe('1')).toMatch(/SLUICE_REQUEST|a request/)
    expect(keys).toEqual([])
  })
})

/** The warnings of the process, which gives each once. */
const warnings: string[] = []

describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
])('a hybrid application on %s, with a microservice that has the same guard', (_, platform) => {
  @Controller()
  class Hybrid {
    @Get('rest')
    rest(@RateLimitDecision() decision: Decision | undefined) {
      return { remaining: decision?.remaining }
    }

    @MessagePattern('add')
    add(@Payload() numbers: number[], @RateLimitDecision() decision: Decision | undefined) {
      return [numbers?.length, decision]
    }
  }

  /** Answers of so many messages to the microservice, one after the other, and the HTTP server. */
  async function startHybrid(guard: Type, filter?: Type) {
    @Module({
      imports: [limited],
      controllers: [Hybrid],
      providers: [
        { provide: APP_GUARD, useClass: guard },
        ...(filter === undefined ? [] : [{ provide: APP_FILTER, useClass: filter }]),
      ],
    })
    class AppModule {}
    const app = await NestFactory.create(AppModule, platform() as AbstractHttpAdapter, {
      logger: ['error'],
    })
    applications.push(app)
    const options = { host: '127.0.0.1', port: 0 }
    const microservice = app.connectMicroservice(
      { transport: Transport.TCP, options },
      { inheritAppConfig: true },
    )
    await app.startAllMicroservices()
    await app.listen(0, '127.0.0.1')
    const { port } = microservice.unwrap<Server>().address() as AddressInfo
    const client = ClientProxyFactory.create({
      transport: Transport.TCP,
      options: { ...options, port },
    })
    const send = async (data: unknown) =>
      firstValueFrom(client.send('add', data)).catch((error: unknown) => error)
    return { server: app.getHttpServer() as Server, send, client }
  }

  it('lets messages through, warns once, and limits the controllers', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const { server, send, client } = await startHybrid(RateLimitGuard)
    for (let i = 0; i < 4; i += 1) expect(await send([1, 2])).toEqual([2, null])
    client.close()
    const statuses: number[] = []
    for (let i = 0; i < 3; i += 1) statuses.push((await request(server).get('/rest')).status)
    expect(statuses).toEqual([200, 200, 429])
    warnings.push(...warned.mock.calls.map(([, options]) => (options as { code: string }).code))
    warned.mockRestore()
    expect(warnings.filter((code) => code === 'SLUICE_CONTEXT_UNLIMITED')).toHaveLength(1)
  })

  it('limits messages by the request that getRequest names, and logs no refusal', async () => {
    const logged = jest.spyOn(process.stderr, 'write').mockImplementation(() => true)
    const { server, send, client } = await startHybrid(
      TcpRateLimitGuard as Type,
      TcpRefusalFilter as Type,
    )
    expect(await send([1, 2])).toEqual([2, null])
    expect((await request(server).get('/rest')).body).toEqual({ remaining: 0 })
    expect(await send([1, 2])).toEqual({
      status: 'error',
      message: 'Quota Exceeded',
      retryAfterMs: expect.any(Number),
    })
    client.close()
    const texts = logged.mock.calls.map(([text]) => String(text))
    logged.mockRestore()
    // Node's own warnings are written there too.
    expect(texts.filter((text) => text.includes('[Nest]'))).toEqual([])
  })
})

@WebSocketGateway()
@UseGuards(GatewayRateLimitGuard as Type)
@UseFilters(GatewayRefusalFilter as Type)
class Gateway {
  @SubscribeMessage('say')
  say() {
    return { event: 'said', data: 'yes' }
  }
}

@WebSocketGateway()
@UseGuards(GatewayRateLimitGuard as Type)
@UseFilters(WsRefusalFilter as Type)
class WsGateway extends (HandshakeGateway as Type) {
  @SubscribeMessage('say')
  say() {
    return { event: 'said', data: 'yes' }
  }
}

const answers = [
  ['said', 'yes'],
  ['said', 'yes'],
  ['exception', { message: 'Quota Exceeded', retryAfterMs: expect.any(Number) }],
]

it('limits the messages of Socket.IO', async () => {
  const server = await start(
    { imports: [limited], providers: [Gateway] },
    (app) => new IoAdapter(app),
  )
  const { port } = server.address() as AddressInfo
  const client = io(`http://127.0.0.1:${port}`, { transports: ['websocket'] })
  const say = async () => {
    const answer = new Promise((resolve) => client.onAny((...event) => resolve(event)))
    client.emit('say')
    return answer
  }
  const got = [await say(), await say(), await say()]
  client.disconnect()
  expect(got).toEqual(answers)
})

it('limits the messages of ws', async () => {
  const server = await start(
    { imports: [limited], providers: [WsGateway] },
    (app) => new WsAdapter(app),
  )
  const { port } = server.address() as AddressInfo
  const client = new WebSocket(`ws://127.0.0.1:${port}`)
  await once(client, 'open')
  const say = async () => {
    client.send(JSON.stringify({ event: 'say' }))
    const [message] = await once(client, 'message')
    const { event, data } = JSON.parse(String(message))
    return [event, data]
  }
  const got = [await say(), await say(), await say()]
  client.close()
  expect(got).toEqual(answers)
})
