// A gateway: the application passes on the rate-limit fields of the service behind it.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { afterEach, describe, expect, test } from '@jest/globals'
import { rateLimit as expressLimit } from '@sluice/express'
import { rateLimit as fastifyLimit } from '@sluice/fastify'
import { rateLimit as honoLimit } from '@sluice/hono'
import { rateLimit as koaLimit } from '@sluice/koa'
import { rateLimit as nodeLimit } from '@sluice/node'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'

/** What the service behind the gateway answers. */
const UPSTREAM = {
  'ratelimit-policy': '"upstream";q=7;w=60',
  ratelimit: '"upstream";r=6;t=60',
  'x-ratelimit-limit': '7',
  'x-request-id': 'abc',
}

type Gateway = (options: Options, status: number) => Server | Promise<Server>
type Options = ReturnType<typeof optionsOf>

const optionsOf = (upstreamHeaders: 'keep' | 'remove' | undefined, limit: number) => ({
  limit,
  window: '1h' as const,
  key: () => 'all',
  upstreamHeaders,
})

const GATEWAYS: Record<string, Gateway> = {
  Express: (options, status) => {
    const app = express().use(expressLimit(options))
    app.use((_, response) => void response.status(status).set(UPSTREAM).end())
    return createServer(app)
  },
  'Express, by writeHead': (options, status) => {
    const app = express().use(expressLimit(options))
    app.use((_, response) => void response.writeHead(status, UPSTREAM).end())
    return createServer(app)
  },
  async Fastify(options, status) {
    const app = fastify()
    await app.register(fastifyLimit, options)
    app.get('/', (_, reply) => reply.code(status).headers(UPSTREAM).send('served'))
    await app.ready()
    return app.server
  },
  Koa: (options, status) => {
    const app = new Koa().use(koaLimit(options))
    app.use((ctx) => {
      ctx.status = status
      ctx.set(UPSTREAM)
    })
    return createServer(app.callback())
  },
  Hono: (options, status) => {
    const app = new Hono().use(honoLimit(options))
    app.get('/', () => new Response(null, { status, headers: UPSTREAM }))
    return createAdaptorServer(app) as Server
  },
  Node: (options, status) => {
    const limit = nodeLimit(options)
    return createServer((request, response) => {
      void limit(request, response, () => response.writeHead(status, UPSTREAM).end())
    })
  },
}

let server: Server
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function fieldsOf(gateway: Gateway, options: Options, status = 200) {
  server = await gateway(options, status)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { headers } = await fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual' })
  const names = ['ratelimit', 'ratelimit-limit', 'x-ratelimit-limit', 'x-request-id']
  return names.map((name) => headers.get(name))
}

describe.each(Object.entries(GATEWAYS))('%s', (_, gateway) => {
  test('by default, the fields of the upstream win', async () => {
    const fields = await fieldsOf(gateway, optionsOf(undefined, 10))
    expect(fields).toEqual(['"upstream";r=6;t=60', '10', '7', 'abc'])
  })

  test('removed, the response has those of the gateway alone', async () => {
    const fields = await fieldsOf(gateway, optionsOf('remove', 10))
    expect(fields).toEqual([expect.stringMatching(/^"default";r=9;t=\d+$/), '10', null, 'abc'])
  })

  test('a redirect has no usage of a quota that is exhausted', async () => {
    const fields = await fieldsOf(gateway, optionsOf('remove', 1), 302)
    expect(fields).toEqual([null, null, null, 'abc'])
  })
})
