import type { OutgoingHttpHeaders } from 'node:http'
import { type AdapterKit, writeChunks } from '@sluice/test-suites'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { rateLimit } from './index.ts'

export const kit: AdapterKit<FastifyRequest, FastifyReply> = {
  async serve(site) {
    const app = fastify({ trustProxy: site.trustProxy as string[] })
    app.addHook('onRequest', async (request, reply) => {
      Object.assign(request, { user: site.user(request) })
      reply.headers(site.fields)
      if (site.early !== undefined) reply.raw.end(site.early)
    })
    for (const options of site.limiters) await app.register(rateLimit, options)
    app.all('/', async (request, reply) => {
      const { status, body, chunks } = await site.handle(request.rateLimit)
      if (reply.raw.headersSent) return reply
      if (chunks === undefined) return reply.code(status).send(body)
      reply.hijack()
      reply.raw.writeHead(status, reply.getHeaders() as OutgoingHttpHeaders)
      await writeChunks(reply.raw, chunks)
    })
    app.setErrorHandler((error, _request, reply) => {
      site.failed(error)
      reply.code(500).send()
    })
    await app.ready()
    return app.server
  },
  read: (request) => request.raw,
  send: (reply, body) => reply.send(body),
  unsafeTrust: [
    [true, 'SLUICE_PROXY_EVERYBODY'],
    [1, 'SLUICE_PROXY_IGNORED'],
  ],
}
