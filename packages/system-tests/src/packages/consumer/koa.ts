// Compiled as ESM (.mts) and as CommonJS (.cts) against the packed declarations; never run.

import byDefault, { type Decision, RateLimitError, rateLimit } from '@sluice/koa'
import shedLoad from '@sluice/koa/overload'
import Koa from 'koa'

interface State {
  user?: { id: string }
  rateLimit?: Decision
}

const limit = rateLimit({ limit: 2, window: '1m', key: (ctx) => ctx.get('x-api-key') })

// @ts-expect-error A limit in quotes is an error: the types are not any.
rateLimit({ limit: '2', window: '1m' })

export const app = new Koa().use(limit).use(async (ctx) => {
  const { remaining } = await limit.limiter.peek(ctx.ip)
  ctx.body = { remaining, limit: ctx.state.rateLimit?.limit }
  // @ts-expect-error It is a Decision, not any.
  ctx.state.rateLimit?.limits
})

export const typed = new Koa<State, { tenant: string }>()
  .use(rateLimit({ limit: 2, window: '1m', respond: 'throw' }))
  .use((ctx) => ctx.state.rateLimit?.remaining)

export const isRefusal = (error: unknown): boolean => error instanceof RateLimitError

export const defaults: readonly [typeof rateLimit, ReturnType<typeof shedLoad>] = [
  byDefault,
  shedLoad(),
]
// @ts-expect-error The default is not any either.
byDefault({ limit: '2', window: '1m' })
