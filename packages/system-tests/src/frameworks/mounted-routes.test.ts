// `routes` of a limiter that is mounted below the root: an entry has the whole path, or the one relative to there.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import Router from '@koa/router'
import { rateLimit as expressLimit } from '@sluice/express'
import { rateLimit as honoLimit } from '@sluice/hono'
import { rateLimit as koaLimit } from '@sluice/koa'
import { rateLimit as nodeLimit } from '@sluice/node'
import express5 from 'express'
import express4 from 'express4'
import { Hono } from 'hono'
import Koa, { type Middleware } from 'koa'

type Routes = Record<string, { limit: number; window: '1h' } | false>

const optionsOf = (routes: Routes) =>
  ({ limit: 100, window: '1h', key: () => 'all', routes }) as const

const expressServer = (express: typeof express5) => (routes: Routes) => {
  const app = express()
  app.use('/api', expressLimit(optionsOf(routes)))
  app.use((_, response) => void response.end('served'))
  return createServer(app)
}

const served: Middleware = (ctx) => {
  ctx.body = 'served'
}

const SERVERS: Record<string, (routes: Routes) => Server> = {
  'Express 5': expressServer(express5),
  'Express 4': expressServer(express4 as unknown as typeof express5),
  "Koa, with a router's prefix"(routes) {
    const router = new Router({ prefix: '/api' })
    router.use(koaLimit(optionsOf(routes)))
    for (const path of ['/login', '/v1/:id']) router.all(path, served)
    return createServer(new Koa().use(router.routes()).callback())
  },
  'Koa, with nested routers'(routes) {
    const inner = new Router()
    inner.use(koaLimit(optionsOf(routes)))
    for (const path of ['/login', '/v1/:id']) inner.all(path, served)
    const router = new Router()
    router.use('/:mount', inner.routes())
    return createServer(new Koa().use(router.routes()).callback())
  },
  'Koa, mounted as by koa-mount'(routes) {
    const app = new Koa()
    app.use((ctx, next) => {
      Object.assign(ctx, { mountPath: '/api', path: ctx.path.slice('/api'.length) })
      return next()
    })
    return createServer(
      app
        .use(koaLimit(optionsOf(routes)))
        .use(served)
        .callback(),
    )
  },
  "Hono's basePath"(routes) {
    const app = new Hono().basePath('/api').use(honoLimit(optionsOf(routes)))
    app.all('/*', (c) => c.text('served'))
    return createAdaptorServer(app) as Server
  },
  'Hono, with a route of another application'(routes) {
    const inner = new Hono().use(honoLimit(optionsOf(routes)))
    inner.all('/*', (c) => c.text('served'))
    return createAdaptorServer(new Hono().route('/:mount', inner)) as Server
  },
  'Node, as connect mounts'(routes) {
    const limit = nodeLimit(optionsOf(routes))
    return createServer((request, response) => {
      const { url = '' } = request
      Object.assign(request, { originalUrl: url, url: url.slice('/api'.length) })
      void limit(request, response, () => response.end('served'))
    })
  },
}

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

async function listen(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return async (path: string, method = 'POST') =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { method })).status
}

const ONE = { limit: 1, window: '1h' } as const

describe.each(Object.keys(SERVERS))('%s', (name) => {
  const start = (routes: Routes) => listen((SERVERS[name] as (given: Routes) => Server)(routes))

  test.each(['POST /api/login', 'POST /login'])('an entry %s matches', async (route) => {
    const send = await start({ [route]: ONE })
    expect([await send('/api/login?a=b'), await send('/api/login')]).toEqual([200, 429])
    expect([await send('/api/v1/x'), await send('/api/v1/x')]).toEqual([200, 200])
  })

  test('the most specific entry wins, whichever path it has', async () => {
    const send = await start({ '/*path': ONE, '/login': false, '/api/v1/:id': false })
    for (let i = 0; i < 2; i += 1) {
      expect(await send('/api/login')).toBe(200)
      expect(await send('/api/v1/x')).toBe(200)
    }
  })

  test('an entry that has matched nothing is warned of once, when its last segment is requested', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const route = `POST /${name.replace(/\W/g, '')}/login`
    const send = await start({ [route]: ONE })
    await send('/api/login', 'GET')
    await send('/api/v1/x')
    expect(warned).not.toHaveBeenCalled()
    await send('/api/login')
    await send('/api/login')
    expect(warned).toHaveBeenCalledTimes(1)
    expect(warned.mock.calls[0]?.[0]).toContain(`routes['${route}']`)
    warned.mockRestore()
  })
})
