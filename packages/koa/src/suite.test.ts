import { createServer } from 'node:http'
import { adapterSuite } from '@sluice/test-suites'
import Koa3, { type Context } from 'koa'
import Koa2 from 'koa2'
import { rateLimit } from './index.ts'

for (const [name, Koa] of [
  ['Koa 3', Koa3],
  ['Koa 2', Koa2 as unknown as typeof Koa3],
] as const) {
  adapterSuite<Context, Context>(name, {
    serve(site) {
      // Koa takes no ranges for its proxy: the limiters get them.
      const ranges = site.trustProxy === true ? undefined : (site.trustProxy as string | undefined)
      const app = new Koa({ proxy: site.trustProxy === true })
      app.use(async (ctx, next) => {
        ctx.state.user = site.user(ctx.req)
        ctx.res.statusCode = 200 // Koa begins with 404, which `before` would send.
        site.before(ctx.req, ctx.res)
        try {
          await next()
        } catch (error) {
          site.failed(error)
          ctx.status = 500
        }
      })
      for (const options of site.limiters) app.use(rateLimit({ trustProxy: ranges, ...options }))
      app.use((ctx) => {
        Object.assign(ctx, ctx.path === '/' ? site.handle(ctx.state.rateLimit) : { status: 404 })
      })
      return createServer(app.callback())
    },
    node: (ctx) => ctx.req,
    send(ctx, body) {
      ctx.body = body
    },
    unsafeTrust: [[true, 'SLUICE_PROXY_EVERYBODY']],
  })
}
