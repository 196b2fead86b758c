import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import Router from '@koa/router'
import { rateLimit as expressLimit } from '@sluice/express'
import { rateLimit as fastifyLimit } from '@sluice/fastify'
import { rateLimit as honoLimit, limitFetch } from '@sluice/hono'
import { rateLimit as koaLimit } from '@sluice/koa'
import { rateLimit as nodeLimit } from '@sluice/node'
import express5 from 'express'
import express4 from 'express4'
import fastify from 'fastify'
import findMyWay from 'find-my-way'
import { Hono } from 'hono'
import Koa from 'koa'

// Each server has a handler for POST /api/login with a limit of its own, an exempt GET /health, and
// one for everything else. What the framework makes of a spelling is asked of the framework.

/** None is ever used up but the one for the login, of which nothing is left after one request. */
const BASE = { limit: 1_000_000, window: '1d' } as const
const LOGIN = { limit: 1, window: '1d' } as const
const ROUTES = { 'POST /api/login': LOGIN, '/health': false } as const

interface Settings {
  readonly caseSensitive: boolean
  readonly strict: boolean
}

type Express = typeof express5

function expressApp(express: Express, mounts: string, app: Settings, router: Settings) {
  const site = express()
  site.set('case sensitive routing', app.caseSensitive).set('strict routing', app.strict)
  site.use(expressLimit({ ...BASE, routes: ROUTES }))
  const routed = express.Router(router)
  if (mounts === 'none') {
    site.post('/api/login', (_, response) => void response.send('login'))
  } else if (mounts === 'application') {
    const inner = express()
    inner.set('case sensitive routing', router.caseSensitive).set('strict routing', router.strict)
    inner.post('/login', (_, response) => void response.send('login'))
    site.use('/api', inner)
  } else {
    routed.post('/login', (_, response) => void response.send('login'))
    site.use('/api', routed)
  }
  site.get('/health', (_, response) => void response.send('health'))
  site.use((_, response) => void response.send('else'))
  return site
}

function koaApp(options: { sensitive: boolean; strict: boolean }) {
  const router = new Router({ prefix: '/api', ...options })
  router.post('/login', (ctx) => {
    ctx.body = 'login'
  })
  const outer = new Router()
  outer.get('/health', (ctx) => {
    ctx.body = 'health'
  })
  const site = new Koa().use(koaLimit({ ...BASE, routes: ROUTES }))
  site.use(router.routes()).use(outer.routes())
  return site.use((ctx) => {
    ctx.body = 'else'
  })
}

async function fastifyApp(routerOptions: object) {
  const app = fastify({ routerOptions })
  await app.register(fastifyLimit, BASE)
  const ok = (text: string) => async () => text
  app.register(async (api) => api.post('/login', { config: { rateLimit: LOGIN } }, ok('login')), {
    prefix: '/api',
  })
  app.get('/health', { config: { rateLimit: false } }, ok('health'))
  app.all('*', ok('else'))
  await app.ready()
  return app.server
}

function honoApp(options: { strict: boolean }, mounted: boolean) {
  const app = new Hono(options)
  app.use(honoLimit({ ...BASE, key: () => 'client', routes: ROUTES }))
  const routed = new Hono(options).post('/login', (c) => c.text('login'))
  if (mounted) app.mount('/api', routed.fetch)
  else app.route('/api', routed)
  app.get('/health', (c) => c.text('health')).all('*', (c) => c.text('else'))
  return createAdaptorServer(app) as Server
}

/** Node has no router: an application compares the path, as it is written or as a URL has it. */
function nodeApp(pathOf: (target: string) => string): RequestListener {
  const limit = nodeLimit({ ...BASE, routes: ROUTES })
  return (request, response) =>
    limit(request, response, () => {
      const route = `${request.method} ${pathOf(request.url as string)}`
      if (route === 'POST /api/login') response.end('login')
      else response.end(route === 'GET /health' ? 'health' : 'else')
    })
}

/** A router that decodes the path. */
function findMyWayApp(): RequestListener {
  const limit = nodeLimit({ ...BASE, routes: ROUTES })
  const answer = (text: string) => (_: unknown, response: ServerResponse) => void response.end(text)
  const router = findMyWay({ defaultRoute: answer('else'), onBadUrl: answer('else') as never })
  router.on('POST', '/api/login', answer('login'))
  router.on('GET', '/health', answer('health'))
  return (request, response) => limit(request, response, () => router.lookup(request, response))
}

/** The path of the request's URL, as a handler of the Fetch standard reads it. */
function fetchApp(pathOf: (url: string) => string): Server {
  const options = { ...BASE, key: () => 'client', routes: ROUTES }
  const handler = limitFetch(options, (request: Request) => {
    const route = `${request.method} ${pathOf(request.url)}`
    if (route === 'POST /api/login') return new Response('login')
    return new Response(route === 'GET /health' ? 'health' : 'else')
  })
  return createAdaptorServer({ fetch: (request: Request) => handler(request) }) as Server
}

const pathOfUrl = (url: string) =>
  URL.canParse(url, 'http://a') ? new URL(url, 'http://a').pathname : ''

/** What cannot be decoded is left. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const DEFAULTS: Settings = { caseSensitive: false, strict: false }
const EXACT: Settings = { caseSensitive: true, strict: true }
const SITES: Record<string, () => RequestListener | Promise<Server>> = {}
for (const [version, express] of [
  ['Express 5', express5],
  ['Express 4', express4 as unknown as Express],
] as const) {
  for (const mounts of ['none', 'router', 'application']) {
    SITES[`${version}, mounted: ${mounts}`] = () => expressApp(express, mounts, DEFAULTS, DEFAULTS)
    SITES[`${version}, mounted: ${mounts}, application compares exactly`] = () =>
      expressApp(express, mounts, EXACT, DEFAULTS)
  }
  SITES[`${version}, router compares exactly`] = () =>
    expressApp(express, 'router', DEFAULTS, EXACT)
}
SITES.Koa = () => koaApp({ sensitive: false, strict: false }).callback()
SITES['Koa, router compares exactly'] = () => koaApp({ sensitive: true, strict: true }).callback()
SITES.Hono = async () => honoApp({ strict: true }, false)
SITES['Hono, a trailing slash makes no difference'] = async () => honoApp({ strict: false }, false)
SITES['Hono, mounted: application'] = async () => honoApp({ strict: true }, true)
SITES['Node, the path as it is written'] = () => nodeApp((target) => target.split('?')[0] as string)
SITES['Node, the path of a URL'] = () => nodeApp(pathOfUrl)
SITES['Node, the decoded path'] = () => nodeApp((target) => decoded(target.split('?')[0] as string))
SITES['Node, the path of the decoded target'] = () =>
  nodeApp((target) => decoded(target).split(/[?#;]/)[0] as string)
SITES['Node, the decoded path of a URL'] = () => nodeApp((target) => decoded(pathOfUrl(target)))
SITES['Node, the path of the decoded URL'] = () => nodeApp((target) => pathOfUrl(decoded(target)))
SITES['Node, decoded twice'] = () => nodeApp((target) => decoded(decoded(pathOfUrl(target))))
SITES['Node, find-my-way'] = findMyWayApp
SITES['Fetch, the path of the URL'] = async () => fetchApp(pathOfUrl)
SITES['Fetch, the decoded path of the URL'] = async () => fetchApp((url) => decoded(pathOfUrl(url)))
SITES.Fastify = () => fastifyApp({})
SITES['Fastify, router compares loosely'] = () =>
  fastifyApp({ caseSensitive: false, ignoreTrailingSlash: true, ignoreDuplicateSlashes: true })

const ORIGINS = ['', 'http://example.com', 'http://user@example.com:80']
const PATHS = [
  '/api/login',
  '/api//login',
  '/api///login',
  '//api/login',
  '//api//login',
  '/API/Login',
  '/API//LOGIN',
  '/api/login/',
  '/api//login/',
  '/api/login//',
  '/api/%6Cogin',
  '/api/%6cogin',
  '/%61p%69/login',
  '/api/%256Cogin',
  '/api%252Flogin',
  '/api/%2E/login',
  '/x/%2e%2E/api/login',
  '/x/..%2Fapi/login',
  '/x%2F%2E%2E%2Fapi%2Flogin',
  '/api%5Clogin',
  '//example.com/api/login',
  '/\\example.com/api/login',
  '/api/login%3Fa',
  '/api/login%23a',
  '/api/lo%09gin',
  '/api%2Flogin',
  '/api/./login',
  '/api/x/../login',
  '/api/login;a=b',
  '/api/login?next=/health',
  '/api//login?next=/health',
  '/api/login#a',
  '/api\\login',
]
const LOGINS = ORIGINS.flatMap((origin) => PATHS.map((path) => `POST ${origin}${path}`))
const HEALTHS = ORIGINS.flatMap((origin) =>
  [
    '/health',
    '/health/../x',
    '/health%2F..%2Fx',
    '//health',
    '/health/',
    '/health//',
    '/HEALTH',
    '/%68ealth',
    '/health?a',
  ].map((path) => `GET ${origin}${path}`),
)

interface Reply {
  readonly status: number
  readonly limited: boolean
  readonly body: string
}

/** Sends a request as an attacker would: clients of HTTP would tidy up the path. */
function ask(port: number, request: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1').on('error', reject)
    socket.on('data', (data: string) => {
      text += data
    })
    socket.on('end', () => {
      const [head = '', sent = ''] = text.split('\r\n\r\n')
      const isChunked = /^transfer-encoding: chunked/im.test(head)
      const body = isChunked ? (sent.split('\r\n')[1] as string) : sent
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1])
      resolve({ status, limited: /^ratelimit-policy:/im.test(head), body })
    })
    socket.end(`${request} HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n`)
  })
}

describe.each(Object.keys(SITES))('%s', (name) => {
  let server: Server
  let port: number
  beforeAll(async () => {
    const site = await (SITES[name] as (typeof SITES)[string])()
    server = typeof site === 'function' ? createServer(site) : site
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
    expect((await ask(port, 'POST /api/login')).body).toBe('login')
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  test('no spelling that reaches the login evades its limit', async () => {
    const replies = await Promise.all(LOGINS.map((each) => ask(port, each)))
    const evading = LOGINS.filter((_, i) => replies[i]?.body === 'login')
    expect(evading).toEqual([])
    expect((await ask(port, 'POST /api/login')).status).toBe(429)
  })

  test('no spelling that reaches another handler is exempt as the health check is', async () => {
    const replies = await Promise.all(HEALTHS.map((each) => ask(port, each)))
    expect(replies[0]).toEqual({ status: 200, limited: false, body: 'health' })
    const free = HEALTHS.filter((_, i) => replies[i]?.body === 'else' && !replies[i]?.limited)
    expect(free).toEqual([])
  })
})
