import { type Gate, routeGate } from '@sluice/core'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

type FastifyGate = Gate<FastifyRequest, FastifyReply>

/** The gates of the routes whose `config.rateLimit` differs from the plugin's options. */
export class RouteGates {
  private readonly base: FastifyGate
  /** In the route's config, which Fastify copies: one plugin's gates are apart from another's. */
  private readonly mark = Symbol('sluice.gate')

  constructor(base: FastifyGate) {
    this.base = base
  }

  /** @throws SluiceError for wrong options, where the route is registered */
  add({ config, method, url }: Pick<RouteOptions, 'config' | 'method' | 'url'>): void {
    const overrides = config?.rateLimit
    if (config === undefined || overrides === undefined) return
    // HEAD is the GET of a resource without its body, and counts as such.
    const methods = [method].flat().map((each) => (each === 'HEAD' ? 'GET' : each))
    const route = `${[...new Set(methods)].sort().join('|')} ${url}`
    Object.assign(config, { [this.mark]: { gate: routeGate(this.base, route, overrides) } })
  }

  /** The gate of a request; undefined if its route is exempt. */
  of({ routeOptions }: FastifyRequest): FastifyGate | undefined {
    const { config } = routeOptions
    if (config?.rateLimit === undefined) return this.base
    const marked = config as unknown as { [mark: symbol]: { gate: FastifyGate | undefined } | undefined }
    if (marked[this.mark] === undefined) {
      // Registered before the plugin was.
      this.add({ config, method: config.method, url: config.url })
    }
    return marked[this.mark]?.gate
  }
}
