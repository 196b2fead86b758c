import { noteEnd } from '@sluice/http/adapter'
import { type ShedLoadOptions as CoreOptions, LoadShedder } from '@sluice/http/overload'
import type { Context, Middleware } from 'koa'
import { checkContext, koaAdapter } from './request-adapter.ts'

export type { ClassOptions, OverloadEvent, QueueOptions } from '@sluice/http/overload'

export type ShedLoadOptions<Class extends string = string> = CoreOptions<Context, Class>

/**
 * Admits the requests that this process can serve, and refuses the others with 503, the least important first:
 * `app.use(shedLoad())`. Use it before everything else, also before `rateLimit`.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another
 */
export function shedLoad<Class extends string = string>(
  options: ShedLoadOptions<Class> = {},
): Middleware {
  const shedder = new LoadShedder<Context, Context>(options as ShedLoadOptions, koaAdapter)
  return async (ctx, next) => {
    checkContext(ctx)
    const passed = shedder.handle(ctx, ctx)
    if (passed instanceof Promise ? !(await passed) : !passed) return
    try {
      await next()
    } finally {
      // Koa ends no response whose client has gone.
      if (!ctx.response.writable) noteEnd(ctx.res)
    }
  }
}

export default shedLoad
