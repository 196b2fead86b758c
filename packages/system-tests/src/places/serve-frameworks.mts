// Serves what the pages of frameworks in docs/places export, each by the framework itself on a port of
// loopback, and prints the addresses: JSON, { page: url }. Argument: the folder with their programs.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ApolloServer, type ApolloServerPlugin } from '@apollo/server'
import { startStandaloneServer } from '@apollo/server/standalone'
import { fetchServer } from '@sluice/test-suites'
import { getRequest, setResponse } from '@sveltejs/kit/node'
import type { betterAuth } from 'better-auth'
import { toNodeHandler } from 'better-auth/node'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { createApp, defineEventHandler, type EventHandler, toNodeListener } from 'h3'
import { createRequestHandler, type MiddlewareFunction, type ServerBuild } from 'react-router'
import { nextServer } from '../readme/next-server.ts'

const [, , folder] = process.argv as [string, string, string]

/** How many requests have reached the application of each page. */
const served: Record<string, number> = {}

function serve(page: string): string {
  served[page] = (served[page] ?? 0) + 1
  return 'served'
}

const { REDIS_URL } = process.env
let databases = 0

/** What a page's program exports. Each counts in a database of its own. */
async function programOf<T>(page: string): Promise<T> {
  databases += 1
  process.env.REDIS_URL = `${REDIS_URL}/${databases}`
  return import(pathToFileURL(join(folder, `${page}.mts`)).href)
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const listenTo = (listener: RequestListener) => listen(createServer(listener))

async function nextjs(): Promise<string> {
  const { GET } = await programOf<{ GET(request: Request): Promise<Response> }>('nextjs')
  return listen(
    fetchServer((request, address) => {
      // As Next.js does, whose package is too large for these tests.
      if (!request.headers.has('X-Forwarded-For'))
        request.headers.set('X-Forwarded-For', address as string)
      return GET(request)
    }),
  )
}

async function sveltekit(): Promise<string> {
  const { handle } = await programOf<{ handle(input: object): Promise<Response> }>('sveltekit')
  return listenTo(async (incoming, outgoing) => {
    const request = await getRequest({ request: incoming, base: 'http://localhost' })
    const getClientAddress = () => incoming.socket.remoteAddress
    const resolve = () => new Response(serve('sveltekit'))
    await setResponse(outgoing, await handle({ event: { request, getClientAddress }, resolve }))
  })
}

/** The last request to Nuxt has been handled. */
let handled: Promise<void> = Promise.resolve()

async function nuxt(): Promise<string> {
  const { default: middleware } = await programOf<{ default: EventHandler }>('nuxt')
  const app = createApp()
  // As if the client left while other middleware works.
  app.use(
    '/left',
    defineEventHandler(async ({ node: { req } }) => {
      req.socket.destroy()
      await once(req.socket, 'close')
    }),
  )
  app.use(middleware)
  app.use(defineEventHandler(() => serve('nuxt')))
  const listener = toNodeListener(app) as (...args: Parameters<RequestListener>) => Promise<void>
  return listenTo((incoming, outgoing) => {
    handled = listener(incoming, outgoing)
  })
}

/** The second program of the page, for Nitro 3, as Nitro runs it: on h3 2. */
async function nitro(): Promise<string> {
  const { default: middleware } = await programOf<{ default: unknown }>('nitro')
  // Its types do not go with those of Node's messages that other packages have.
  const name: string = 'h3-2'
  const { H3, toNodeHandler } = (await import(name)) as {
    H3: new () => H3
    toNodeHandler(app: H3): RequestListener
  }
  const app = new H3().use(middleware).get('/', () => serve('nitro'))
  app.get('/own', () => app.fetch(new Request('http://localhost/')))
  return listenTo(toNodeHandler(app))
}

interface H3 {
  use(middleware: unknown): H3
  get(path: string, handler: () => unknown): H3
  fetch(request: Request): Promise<Response>
}

async function reactRouter(): Promise<string> {
  const { rateLimit } = await programOf<{ rateLimit: MiddlewareFunction<Response> }>('react-router')
  const load = () => serve('react-router')
  const page = { default: () => null, loader: load, action: load }
  const build = {
    entry: {
      module: {
        default: (_: Request, status: number, headers: Headers) =>
          new Response('page', { status, headers }),
      },
    },
    routes: {
      root: { id: 'root', path: '', module: { default: () => null, middleware: [rateLimit] } },
      page: { id: 'page', parentId: 'root', index: true, module: page },
    },
    assets: { routes: {}, entry: { imports: [], module: '' }, url: '', version: '' },
    future: { v8_middleware: true },
    publicPath: '/',
    assetsBuildDirectory: '',
    prerender: [],
    routeDiscovery: { mode: 'initial' },
    ssr: true,
    isSpaMode: false,
  } as unknown as ServerBuild
  const handle = createRequestHandler(build, 'production')
  return listen(fetchServer((request) => handle(request)))
}

const SCHEMA = `type Query { users(first: Int): [User!]!, broken: [User]! } type User { id: ID!, name: String! }`
const resolvers = (page: string) => ({
  Query: {
    users: (_: unknown, { first = 3 }) => {
      serve(page)
      // However many are asked for, there are three.
      return [1, 2, 3].slice(0, first).map((id) => ({ id, name: `user ${id}` }))
    },
    broken: () => [{ id: serve(page) }],
  },
})

/** The tests say who their client is. */
function clientOf({ req }: { req: IncomingMessage }): { client: string } {
  return { client: String(req.headers['x-client']) }
}

async function yoga(): Promise<string> {
  const { rateLimit } = await programOf<{ rateLimit: Plugin<{ client: string }> }>('graphql-yoga')
  const schema = createSchema<{ req: IncomingMessage }>({
    typeDefs: SCHEMA,
    resolvers: resolvers('graphql-yoga'),
  })
  return listenTo(
    createYoga<{ req: IncomingMessage }>({
      schema,
      plugins: [rateLimit],
      context: clientOf,
      logging: false,
    }),
  )
}

async function apollo(): Promise<string> {
  const { rateLimit } = await programOf<{ rateLimit: ApolloServerPlugin<{ client: string }> }>(
    'apollo',
  )
  const server = new ApolloServer({
    typeDefs: SCHEMA,
    resolvers: resolvers('apollo'),
    plugins: [rateLimit],
  })
  const { url } = await startStandaloneServer(server, {
    listen: { port: 0, host: '127.0.0.1' },
    context: async ({ req }) => clientOf({ req }),
  })
  return url.replace(/\/$/, '')
}

async function trpc(): Promise<string> {
  const address = nextServer()
  await programOf('trpc')
  return address
}

async function auth(): Promise<string> {
  const program = await programOf<{ auth: ReturnType<typeof betterAuth> }>('better-auth')
  return listenTo(toNodeHandler(program.auth))
}

interface Lambda {
  handler(event: object): Promise<{ statusCode: number; headers?: object; body: string }>
}

/** What API Gateway makes of a request, in its payload format 2.0. */
async function lambda(): Promise<string> {
  const { handler } = await programOf<Lambda>('functions')
  return listenTo(async ({ method, url, headers, socket }, response) => {
    const http = { method, path: url, sourceIp: socket.remoteAddress, protocol: 'HTTP/1.1' }
    const event = { version: '2.0', rawPath: url, headers, requestContext: { http } }
    const answer = await handler(event)
    response.writeHead(answer.statusCode, answer.headers as Record<string, string>)
    response.end(answer.body)
  })
}

const counts = await listenTo(async (_, response) => {
  await handled
  response.end(JSON.stringify(served))
})
const urls = {
  counts,
  nextjs: await nextjs(),
  sveltekit: await sveltekit(),
  nuxt: await nuxt(),
  nitro: await nitro(),
  'react-router': await reactRouter(),
  'graphql-yoga': await yoga(),
  apollo: await apollo(),
  trpc: await trpc(),
  'better-auth': await auth(),
  functions: await lambda(),
}
process.stdout.write(`${JSON.stringify(urls)}\n`)
