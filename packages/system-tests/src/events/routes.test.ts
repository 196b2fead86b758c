// The route of an event is the pattern that the framework has matched, never what a client wrote.

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import Router from '@koa/router'
import type { DecisionEvent } from '@sluice/core'
import { rateLimit as expressLimit } from '@sluice/express'
import { rateLimit as fastifyLimit } from '@sluice/fastify'
import { rateLimit as honoLimit } from '@sluice/hono'
import { rateLimit as koaLimit } from '@sluice/koa'
import express from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'

const options = { limit: 100, window: '1d' } as const
const paths = ['/users/secret-1?token=secret-2', '/tenants/secret-3/items/secret-4', '/secret-5']

async function expressServer(framework: typeof express): Promise<Server> {
  const app = framework()
  const items = framework.Router()
  items.get('/items/:id', expressLimit({ ...options, name: 'item' }), (_, response) => {
    response.end()
  })
  app.get('/users/:id', expressLimit({ ...options, name: 'user' }), (_, response) => {
    response.end()
  })
  app.use('/tenants/:tenant', items)
  app.use(expressLimit({ ...options, name: 'all' }))
  return createServer(app)
}

async function fastifyServer(): Promise<Server> {
  const app = fastify()
  await app.register(fastifyLimit, { ...options, name: 'all' })
  app.get('/users/:id', async () => 'user')
  app.get('/tenants/:tenant/items/:id', { config: { rateLimit: { name: 'item' } } }, async () => 1)
  await app.ready()
  return app.server
}

async function koaServer(): Promise<Server> {
  const app = new Koa()
  const router = new Router({ prefix: '/users' })
  router.get('/:id', koaLimit({ ...options, name: 'user' }), (ctx) => {
    ctx.body = 'user'
  })
  app.use(router.routes())
  app.use(koaLimit({ ...options, name: 'all', routes: { '/tenants/*path': { name: 'item' } } }))
  return createServer(app.callback())
}

async function honoServer(): Promise<Server> {
  const app = new Hono()
  const limit = (name: string) => honoLimit({ ...options, name, address: () => '192.0.2.1' })
  const items = new Hono().get('/items/:id', limit('item'), (c) => c.text('item'))
  app.get('/users/:id', limit('user'), (c) => c.text('user'))
  app.route('/tenants/:tenant', items)
  app.use(limit('all'))
  return createAdaptorServer({ fetch: app.fetch }) as Server
}

const events: DecisionEvent[] = []
const hear = (message: unknown) => void events.push(message as DecisionEvent)
beforeEach(() => {
  events.length = 0
  subscribe('sluice:decision', hear)
})
afterEach(() => {
  unsubscribe('sluice:decision', hear)
})

const OF_EXPRESS = [
  ['user', '/users/:id'],
  ['item', '/items/:id'],
  ['all', undefined],
]

test.each<[string, () => Promise<Server>, (string | undefined)[][]]>([
  ['Express 5', () => expressServer(express), OF_EXPRESS],
  ['Express 4', () => expressServer(express4 as unknown as typeof express), OF_EXPRESS],
  [
    'Fastify',
    fastifyServer,
    [
      ['all', '/users/:id'],
      ['item', '/tenants/:tenant/items/:id'],
      ['all', undefined],
    ],
  ],
  [
    'Koa',
    koaServer,
    [
      ['user', '/users/:id'],
      ['item', '/tenants/*path'],
      ['all', undefined],
    ],
  ],
  [
    'Hono',
    honoServer,
    [
      ['user', '/users/:id'],
      ['item', '/tenants/:tenant/items/:id'],
      ['all', undefined],
    ],
  ],
])('%s', async (_, serve, expected) => {
  const server = await serve()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  for (const path of paths) await fetch(`http://127.0.0.1:${port}${path}`)
  server.closeAllConnections()
  server.close()
  expect(events.map(({ limiter, route }) => [limiter, route])).toEqual(expected)
  expect(JSON.stringify(events)).not.toContain('secret')
})
