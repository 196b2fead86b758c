import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import * as runner from '@jest/globals'
import type { FetchReply } from '@sluice/core/adapter'
import { everyStore, frameworkRunner, isAll, useRedis } from '@sluice/test-harness/jest'
import {
  type AdapterKit,
  type AdapterStores,
  adapterSuite,
  fetchServer,
  middlewareOf,
  streamChunks,
} from '@sluice/test-suites'
import { type Context, Hono } from 'hono'
import { stream } from 'hono/streaming'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { createAdaptorServer as serve1 } from 'node-server1'
import {
  decisionOf,
  limitFetch,
  memoryStore,
  type RateLimitOptions,
  rateLimit,
  redisStore,
} from './index.ts'

const redis = useRedis()

/** Each makes a store on a clock, or on its own without one. */
const memory: AdapterStores = { memory: (clock) => memoryStore({ ...(clock && { clock }) }) }
const remote: AdapterStores = {
  Redis: (clock) => redisStore(redis.client, { ...(clock && { clock }) }),
}
const every = everyStore && { ...memory, ...remote }

/** @param serve the function of a version of @hono/node-server */
const onHono = (serve: typeof createAdaptorServer): AdapterKit<Context, FetchReply> => ({
  serve(site) {
    const trustProxy = site.trustProxy as string | undefined
    const address = (c: Context) => getConnInfo(c).remote.address
    const app = new Hono()
    app.use(async (c, next) => {
      c.set('user' as never, site.user(c) as never)
      for (const [name, value] of Object.entries(site.fields)) c.header(name, value)
      if (site.early !== undefined) return c.body(site.early)
      return next()
    })
    const limit = (options: RateLimitOptions) => rateLimit({ address, trustProxy, ...options })
    for (const each of middlewareOf(site, limit)) app.use(each)
    app.all('/', async (c) => {
      const { status, body, chunks } = await site.handle(c.get('rateLimit'))
      if (chunks !== undefined)
        return stream(c, async (writer) => {
          for await (const chunk of chunks) await writer.write(chunk)
        })
      return status === 304 ? c.body(null, status) : c.body(body, status as ContentfulStatusCode)
    })
    app.onError((error, c) => {
      site.failed(error)
      return c.body(null, 500)
    })
    return serve(app) as Server
  },
  read: (c) => ({
    url: c.req.url.slice(new URL(c.req.url).origin.length),
    headers: Object.fromEntries(c.req.raw.headers),
  }),
  send: (_reply, body) => new Response(body),
})

adapterSuite(frameworkRunner, 'Hono', onHono(createAdaptorServer), every || remote)
if (isAll)
  adapterSuite(
    frameworkRunner,
    'Hono on @hono/node-server 1',
    onHono(serve1 as never),
    every || memory,
  )

adapterSuite<Request, FetchReply>(
  runner,
  'a function of a Request',
  {
    serve(site) {
      const trustProxy = site.trustProxy as string | undefined
      type Handler = (request: Request, address: string | undefined) => Promise<Response>
      const application: Handler = async (request) => {
        if (new URL(request.url).pathname !== '/') return new Response(null, { status: 404 })
        const { status, body, chunks } = await site.handle(decisionOf(request))
        if (chunks !== undefined) return new Response(streamChunks(chunks), { status })
        return new Response(status === 304 ? null : body, { status })
      }
      const limited = site.limiters.reduceRight<Handler>((handler, options) => {
        const user = options.user ?? ((request: Request) => idOf(site.user(request)))
        const address = (_: Request, given: string | undefined) => given
        return limitFetch({ address, trustProxy, ...options, user }, handler)
      }, application)
      return fetchServer(async (request, address) => {
        if (site.early !== undefined) return new Response(site.early)
        try {
          const response = await limited(request, address)
          for (const [name, value] of Object.entries(site.fields))
            if (!response.headers.has(name)) response.headers.set(name, value)
          return response
        } catch (error) {
          site.failed(error)
          return new Response(null, { status: 500 })
        }
      })
    },
    read: ({ url, headers }) => ({
      url: url.slice(new URL(url).origin.length),
      headers: Object.fromEntries(headers),
    }),
    send: (_reply, body) => new Response(body),
  },
  memory,
)

/** The standard has no place for a user: the application reads it. */
function idOf(user: unknown): string | undefined {
  if (typeof user !== 'object') return user as string | undefined
  const { id, sub } = (user ?? {}) as { id?: string; sub?: string }
  return id ?? sub
}
