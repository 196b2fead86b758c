import { createServer } from 'node:http'
import { everyStore, frameworkRunner, isAll, useRedis } from '@sluice/test-harness/jest'
import {
  type AdapterKit,
  type AdapterStores,
  adapterSuite,
  middlewareOf,
  writeChunks,
} from '@sluice/test-suites'
import Koa3, { type Context } from 'koa'
import Koa2 from 'koa2'
import { memoryStore, type RateLimitOptions, rateLimit, redisStore } from './index.ts'

const redis = useRedis()

/** Each makes a store on a clock, or on its own without one. */
const memory: AdapterStores = { memory: (clock) => memoryStore({ ...(clock && { clock }) }) }
const stores: AdapterStores = {
  ...memory,
  ...(everyStore && {
    Redis: (clock?: () => number) => redisStore(redis.client, { ...(clock && { clock }) }),
  }),
}

// Nothing that a store does depends on the version of the framework.
for (const [name, Koa, kept] of [
  ['Koa 3', Koa3, stores],
  ...(isAll ? [['Koa 2', Koa2 as unknown as typeof Koa3, memory] as const] : []),
] as const) {
  const kit: AdapterKit<Context, Context> = {
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
  }
  adapterSuite(frameworkRunner, name, kit, kept)
}
