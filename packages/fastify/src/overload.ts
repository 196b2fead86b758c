import { type ShedLoadOptions as CoreOptions, LoadShedder } from '@sluice/http/overload'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { adapterOf } from './request-adapter.ts'

export type { ClassOptions, OverloadEvent, QueueOptions } from '@sluice/http/overload'

export type ShedLoadOptions<Class extends string = string> = CoreOptions<FastifyRequest, Class>

const plugin: FastifyPluginAsync<ShedLoadOptions> = async (app, options) => {
  const shedder = new LoadShedder<FastifyRequest, FastifyReply>(options, adapterOf(app))
  app.addHook('onRequest', (request, reply, next) => {
    // A WebSocket has no response that ends.
    if ((request.raw as { upgrade?: boolean | null }).upgrade === true) return next()
    const passed = shedder.handle(request, reply)
    if (passed instanceof Promise) void passed.then((goesOn) => goesOn && next())
    else if (passed) next()
  })
}

/**
 * Admits the requests that this process can serve, and refuses the others with 503, the least important first:
 * `await app.register(shedLoad)`. Register it before everything else, also before `rateLimit`. Handshakes of
 * WebSockets go on.
 *
 * Registering rejects with a SluiceError if an option is unknown, of the wrong type, out of range, or contradicts
 * another.
 */
export const shedLoad: FastifyPluginAsync<ShedLoadOptions> = fp(plugin, {
  fastify: '5.x',
  name: '@sluice/fastify/overload',
})

export default shedLoad
