import {
  isResponse,
  nodeExchange,
  notOfFramework,
  type ProxyTrust,
  type RequestAdapter,
  type RoutePattern,
  readResponse,
  sendableOf,
} from '@sluice/http/adapter'
import type { Context } from 'koa'

/** Reads the request and the response of Koa. */
export const koaAdapter: RequestAdapter<Context, Context> = {
  ...nodeExchange<Context, Context>(
    (ctx) => ctx.req,
    (ctx) => ctx.res,
  ),
  setStatus(ctx, status) {
    ctx.status = status
  },
  send(ctx, body, mediaType) {
    ctx.set('Content-Type', mediaType)
    ctx.body = body
  },
  // Koa answers when all middleware has run, with what the context has then.
  responded(ctx, result) {
    const isOwn = ctx.respond === false || ctx.headerSent || ctx.body !== undefined
    if (isOwn || ctx.status === 204 || ctx.status === 304) return true
    if (isResponse(result)) return respondWith(ctx, result)
    const sendable = sendableOf(result)
    if (sendable === undefined) return false
    if (!ctx.res.hasHeader('Content-Type')) ctx.set('Content-Type', sendable.mediaType)
    ctx.body = sendable.body
    return true
  },
  address: addressOf,
  proxyTrust: ({ app }) => trustOf(app),
  user: (ctx) => ctx.state.user,
  path: (ctx) => ctx.path,
  otherPath,
  // As @koa/router sets it.
  route: (ctx) => (ctx as { _matchedRoute?: RoutePattern })._matchedRoute,
  decided(ctx, decision) {
    ctx.state.rateLimit = decision
  },
}

/** @throws SluiceError if it is something else, such as an object that a test has made */
export function checkContext({ app, request, response, state }: Context): void {
  if (app && request && response && state) return
  throw notOfFramework('ctx', 'a context of Koa', undefined)
}

/** As Koa 3 does by itself. */
async function respondWith(ctx: Context, result: Response): Promise<true> {
  const setStatus = (status: number) => {
    ctx.status = status
  }
  const bytes = await readResponse(result, setStatus, (...field) => ctx.set(...field))
  ctx.body = Buffer.from(bytes)
  return true
}

/** What koa-mount and @koa/router set, with the pattern of the layer that runs. */
type Mounted = Context & { mountPath?: unknown; routerPath?: unknown }

/** A pattern of plain segments and parameters, with or without a wildcard at the end. */
const PREFIX = /^((?:\/[\w.~:-]+)+)(?:\/?\(\.\*\)|\(\?:\\\/\|\$\)|\{\/\*\w+\}|\/\*\w+)?\/?$/

/** The whole path where koa-mount has cut it, or the path relative to a router's prefix. */
function otherPath(ctx: Context): string | undefined {
  const { mountPath, routerPath, path, originalUrl } = ctx as Mounted
  if (mountPath !== undefined) return originalUrl.split('?', 1)[0]
  const prefix = typeof routerPath === 'string' ? PREFIX.exec(routerPath)?.[1] : undefined
  if (prefix === undefined) return undefined
  const depth = prefix.split('/').length
  return `/${path.split('/').slice(depth).join('/')}`
}

/** A comma too many. */
const EMPTY_ENTRY = /(^|,)\s*(,|$)/

/**
 * `ctx.ip`, but empty entries of the proxy's header are passed over: where one is the entry that it
 * looks for, Koa takes the proxy for the client, and all clients would share that limit.
 */
function addressOf(ctx: Context): string {
  const { ip, app } = ctx
  if (!app.proxy || !EMPTY_ENTRY.test(ctx.get(app.proxyIpHeader))) return ip
  const setByApplication = ip !== (ctx.ips[0] || ctx.req.socket.remoteAddress || '')
  if (setByApplication) return ip
  const entries = ctx
    .get(app.proxyIpHeader)
    .split(',')
    .filter((entry) => entry.trim() !== '')
  const [first = ip] = app.maxIpsCount > 0 ? entries.slice(-app.maxIpsCount) : entries
  return first
}

/**
 * With `maxIpsCount` Koa takes so many entries from the right, else all, and the first of them. Of
 * another header than X-Forwarded-For nothing can be said: whose it is, only the operator knows.
 */
function trustOf({ proxy, maxIpsCount, proxyIpHeader }: Context['app']): ProxyTrust {
  if (!proxy) return 'nobody'
  return maxIpsCount > 0 || !/^x-forwarded-for$/i.test(proxyIpHeader) ? 'named' : 'everybody'
}
