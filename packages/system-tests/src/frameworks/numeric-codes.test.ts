// Frameworks whose error handlers take the status from errors of their own: `respond` throws one.

import type { AddressInfo } from 'node:net'
import { afterEach, expect, jest, test } from '@jest/globals'
import { type RateLimitOptions, rateLimit } from '@sluice/express'
import { rateLimit as koaLimit } from '@sluice/koa'
import { Errors, ServiceBroker } from 'moleculer'
import ApiGateway from 'moleculer-web'

interface Feathers {
  use(...given: unknown[]): Feathers
  configure(plugin: unknown): Feathers
  listen(port: number): Promise<{ address(): AddressInfo | string | null }>
  teardown(): Promise<unknown>
}
interface Binding {
  (app: unknown): Feathers
  rest(): unknown
  errorHandler(options?: object): unknown
}
// Their types change those of Node's messages, for all tests.
const load = <T>(name: string) => jest.requireActual<T>(`@feathersjs/${name}`)
const { feathers } = load<{ feathers(): object }>('feathers')
const { TooManyRequests } = load<{ TooManyRequests: new (message: string) => Error }>('errors')
const feathersExpress = load<Binding>('express')
const feathersKoa = load<Binding & { koa: Binding }>('koa')

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const terms = { limit: 1, window: '1m', retryAfterJitter: 0 } as const
type Respond = NonNullable<RateLimitOptions['respond']>
const messages = { find: async () => [] }

const feathersError = () => {
  throw new TooManyRequests('slow down')
}
const moleculerError = () => {
  throw new Errors.MoleculerError('slow down', 429, 'TOO_MANY_REQUESTS')
}

async function feathersOnExpress(respond: Respond): Promise<number> {
  const app = feathersExpress(feathers())
  app.use(rateLimit({ ...terms, respond }))
  app.configure(feathersExpress.rest())
  app.use('messages', messages)
  app.use(feathersExpress.errorHandler({ logger: false }))
  const server = await app.listen(0)
  ends.push(() => app.teardown())
  return (server.address() as AddressInfo).port
}

async function feathersOnKoa(respond: Respond): Promise<number> {
  const app = feathersKoa.koa(feathers())
  app.use(feathersKoa.errorHandler())
  app.use(koaLimit({ ...terms, respond: respond as never }))
  app.configure(feathersKoa.rest())
  app.use('messages', messages)
  const server = await app.listen(0)
  ends.push(() => app.teardown())
  return (server.address() as AddressInfo).port
}

async function moleculer(respond: Respond): Promise<number> {
  const broker = new ServiceBroker({ logger: false })
  broker.createService({ name: 'messages', actions: { list: () => [] } })
  const routes = [
    {
      path: '/',
      aliases: { 'GET messages': 'messages.list' },
      use: [rateLimit({ ...terms, respond })],
    },
  ]
  const api = broker.createService({
    mixins: [ApiGateway],
    settings: { port: 0, ip: '127.0.0.1', routes },
  } as never)
  await broker.start()
  ends.push(() => broker.stop())
  return (api as unknown as { server: { address(): AddressInfo } }).server.address().port
}

test.each<[string, (respond: Respond) => Promise<number>, () => never, object]>([
  ['Feathers on Express', feathersOnExpress, feathersError, { className: 'too-many-requests' }],
  ['Feathers on Koa', feathersOnKoa, feathersError, { className: 'too-many-requests' }],
  ['Moleculer', moleculer, moleculerError, { type: 'TOO_MANY_REQUESTS' }],
])('%s', async (_, start, respond, body) => {
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const port = await start(respond)
  const get = () =>
    fetch(`http://127.0.0.1:${port}/messages`, { headers: { accept: 'application/json' } })
  expect((await get()).status).toBe(200)
  const refused = await get()
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
  expect(await refused.json()).toMatchObject({ message: 'slow down', code: 429, ...body })
})
