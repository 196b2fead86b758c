import type { Framework, ProxyTrust } from '@sluice/core'
import type { Context } from 'koa'

/** Where Koa keeps the facts of a request. */
export const koa: Framework<Context, Context> = {
  incoming: (ctx) => ctx.req,
  outgoing: (ctx) => ctx.res,
  address: (ctx) => ctx.ip,
  proxyTrust: (ctx) => trustOf(ctx.app),
  user: (ctx) => ctx.state.user,
  path: (ctx) => ctx.path,
}

/** With `maxIpsCount` Koa takes so many entries from the right, else all, and the first of them. */
function trustOf({ proxy, maxIpsCount }: { proxy?: boolean; maxIpsCount?: number }): ProxyTrust {
  if (proxy !== true) return 'nobody'
  return maxIpsCount !== undefined && maxIpsCount > 0 ? 'named' : 'everybody'
}
