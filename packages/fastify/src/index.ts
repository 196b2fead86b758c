import { type Decision, SluiceError } from '@sluice/core'
import { readAdapterOption, registrationScope, warnOnce } from '@sluice/core/internal'
import type { RateLimitOptions as CoreOptions, RouteOverrides } from '@sluice/http'
import { RoutedLimiter } from '@sluice/http/adapter'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Hook, type HookHandler, handler } from './hook.ts'
import { register } from './registrations.ts'
import { adapterOf } from './request-adapter.ts'
import { type FastifyLimiter, RouteLimiters } from './route-limiters.ts'

export * from '@sluice/http'

export type { Hook, HookHandler } from './hook.ts'
export type { FastifyLimiter } from './route-limiters.ts'

interface HookOption {
  /**
   * When requests are decided. `'onRequest'`: before the body is read. `'preValidation'`: after the
   * body is parsed. `'preHandler'`: after it is validated, when the application knows the user.
   * Default: `'onRequest'`; on a route, the plugin's.
   */
  hook?: Hook | undefined
}

export interface RateLimitOptions extends CoreOptions<FastifyRequest, FastifyReply>, HookOption {}

/** The options that a route can override, and its hook. */
export interface FastifyRouteOptions
  extends RouteOverrides<FastifyRequest, FastifyReply>,
    HookOption {}

declare module 'fastify' {
  interface FastifyRequest {
    /** The decision of the last limiter; undefined if the request was exempt. */
    rateLimit: Decision | undefined
  }
  interface FastifyInstance {
    /**
     * The limiter of the first `rateLimit` registered in this context, or else in the parent
     * context. It covers routes too.
     */
    rateLimit: FastifyLimiter
  }
  interface FastifyContextConfig {
    /** Options that differ for this route; `false` exempts it. */
    rateLimit?: FastifyRouteOptions | false
  }
}

const plugin: FastifyPluginAsync<RateLimitOptions> = (app, options) => {
  checkInstance(app)
  return install(app, options)
}

/** @throws SluiceError if it was not Fastify that has called the plugin */
function checkInstance(app: FastifyInstance): void {
  if (typeof app?.addHook === 'function') return
  throw new SluiceError({
    code: 'SLUICE_OPTION_TYPE',
    option: 'rateLimit',
    expected: 'to be called by Fastify, with its instance',
    received: app,
    fix: "Register it, and do not call it: await app.register(rateLimit, { limit: 100, window: '1m' }).",
  })
}

async function install(app: FastifyInstance, options: RateLimitOptions): Promise<void> {
  if (!app.version.startsWith('5.')) {
    warnOnce(
      'SLUICE_FRAMEWORK_UNTESTED',
      `Fastify ${app.version} is newer than this version of @sluice/fastify, which was tested with Fastify 5: update it before production.`,
    )
  }
  const hook = readAdapterOption('hook', options)
  const { hook: _, ...rest } = options
  const number = register(app, rest)
  const all = new RoutedLimiter(rest as CoreOptions<FastifyRequest, FastifyReply>, adapterOf(app), {
    addsRoutes: true,
    scope: registrationScope(number),
  })
  const httpLimiters = new RouteLimiters(all, hook, (load) => void app.addHook('onReady', load))

  if (!Object.hasOwn(app, 'rateLimit')) app.decorate('rateLimit', httpLimiters.limiter)
  if (!app.hasRequestDecorator('rateLimit')) app.decorateRequest('rateLimit', undefined)
  let hasRoutes = false
  app.addHook('onRoute', (route) => {
    hasRoutes = true
    httpLimiters.add(route)
  })
  app.addHook('onClose', async () => httpLimiters.limiter.close())
  const decide = handler((request) => httpLimiters.of(request, hook))
  app.addHook(hook as 'onRequest', decide)
  app.addHook('onReady', async () => {
    if (!hasRoutes && isScope(app)) warnIfUnused(app, hook, decide)
  })
}

/** Whether it is the instance of a plugin, not the application itself. Fastify makes the one around it its prototype. */
function isScope(app: FastifyInstance): boolean {
  return typeof Object.getPrototypeOf(app)?.addHook === 'function'
}

/** Warns of a limiter in a scope without routes: it has no effect on the routes outside. */
function warnIfUnused(app: FastifyInstance, hook: Hook, decide: HookHandler): void {
  const name = 'sluiceRateLimit'
  Object.defineProperty(decide, 'name', { value: name, configurable: true })
  // Routes that were added to the scope before the plugin have the hook.
  const isUsed = app.printRoutes({ includeHooks: true, commonPrefix: false }).includes(name)
  Object.defineProperty(decide, 'name', { value: hook, configurable: true })
  if (isUsed) return
  warnOnce(
    'SLUICE_SCOPE_EMPTY',
    'rateLimit is registered in a plugin that has no routes, so it limits none: a plugin of Fastify has its hooks for ' +
      'itself. Register it on the application, or wrap the plugin that registers it in fastify-plugin.',
  )
}

/**
 * Limits the rate of requests: `await app.register(rateLimit, { limit: 100, window: '1m' })`. A
 * second one, in the same or a nested context, adds a limit: it counts separately, even on the same
 * store with the same options.
 *
 * Registering rejects with a SluiceError if an option is unknown, of the wrong type, out of range,
 * or contradicts another. Adding a route with an invalid `config.rateLimit` throws one.
 */
export const rateLimit: FastifyPluginAsync<RateLimitOptions> = fp(plugin, {
  fastify: '5.x || 6.x',
  name: '@sluice/fastify',
})

export default rateLimit
