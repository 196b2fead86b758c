import { adapterSuite } from '@sluice/test-suites'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { rateLimit } from './index.ts'

adapterSuite<FastifyRequest, FastifyReply>('Fastify 5', {
  async serve(site) {
    const app = fastify({ trustProxy: site.trustProxy as string[] })
    app.addHook('onRequest', async (request, reply) => {
      Object.assign(request, { user: site.user(request.raw) })
      site.before(request.raw, reply.raw)
    })
    for (const options of site.limiters) await app.register(rateLimit, options)
    app.all('/', (request, reply) => {
      const { status, body } = site.handle(request.rateLimit)
      if (!reply.raw.headersSent) reply.code(status).send(body)
    })
    app.setErrorHandler((error, _request, reply) => {
      site.failed(error)
      reply.code(500).send()
    })
    await app.ready()
    return app.server
  },
  node: (request) => request.raw,
  send: (reply, body) => reply.send(body),
  unsafeTrust: [
    [true, 'SLUICE_PROXY_EVERYBODY'],
    [1, 'SLUICE_PROXY_IGNORED'],
  ],
})
