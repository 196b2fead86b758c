import type { Middleware } from 'koa'

export type Plan = 'anonymous' | 'free' | 'pro'

/** The users who may sign in. A real application uses a session or a token. */
const users = new Map<string, { id: string; plan: Plan }>([
  ['free-1', { id: '1', plan: 'free' }],
  ['pro-1', { id: '2', plan: 'pro' }],
])

export const authenticate: Middleware = (ctx, next) => {
  ctx.state.user = users.get(ctx.get('x-api-key'))
  ctx.state.plan = ctx.state.user?.plan ?? 'anonymous'
  return next()
}
