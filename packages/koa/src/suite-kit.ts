import { createServer } from 'node:http'
import { type AdapterKit, middlewareOf, writeChunks } from '@sluice/test-suites'
import type Koa3 from 'koa'
import type { Context } from 'koa'
import { type RateLimitOptions, rateLimit } from './index.ts'

/** @param Koa the version that serves */
export const kitOf = (Koa: typeof Koa3): AdapterKit<Context, Context> => ({
  serve(site) {
    // Koa takes no ranges for its proxy: the limiters get them.
    const ranges = site.trustProxy === true ? undefined : (site.trustProxy as string | undefined)
    const app = new Koa({ proxy: site.trustProxy === true })
    app.use(async (ctx, next) => {
      ctx.state.user = site.user(ctx)
      ctx.set(site.fields)
      ctx.res.statusCode = 200 // Koa begins with 404, which an early response would have.
      if (site.early !== undefined) ctx.res.end(site.early)
      try {
        await next()
      } catch (error) {
        site.failed(error)
        ctx.status = 500
      }
    })
    const limit = (options: RateLimitOptions) => rateLimit({ trustProxy: ranges, ...options })
    for (const each of middlewareOf(site, limit)) app.use(each)
    app.use(async (ctx) => {
      if (ctx.path !== '/') return void Object.assign(ctx, { status: 404 })
      const { status, body, chunks } = await site.handle(ctx.state.rateLimit)
      Object.assign(ctx, { status, body })
      if (chunks === undefined) return
      ctx.respond = false
      await writeChunks(ctx.res, chunks)
    })
    return createServer(app.callback())
  },
  read: (ctx) => ctx.req,
  send(ctx, body) {
    ctx.body = body
  },
  unsafeTrust: [[true, 'SLUICE_PROXY_EVERYBODY']],
})
