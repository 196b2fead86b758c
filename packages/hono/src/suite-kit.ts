import type { Server } from 'node:http'
import type { FetchReply } from '@sluice/http/adapter'
import { type AdapterKit, middlewareOf } from '@sluice/test-suites'
import { type Context, Hono } from 'hono'
import { stream } from 'hono/streaming'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { type RateLimitOptions, rateLimit } from './index.ts'

/**
 * @param serve makes a server of an application, such as the function of a version of @hono/node-server
 * @param address reads the address of the client, as that server says it
 */
export const onHono = (
  serve: (app: Hono) => unknown,
  address: (c: Context) => string | undefined,
): AdapterKit<Context, FetchReply> => ({
  serve(site) {
    const trustProxy = site.trustProxy as string | undefined
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
