import {
  fastifyTrust,
  nodeExchange,
  PROFILE_FIELDS,
  type RequestAdapter,
} from '@sluice/core/adapter'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { whenSocketClosed } from './handshakes.ts'

/** Fastify writes names in lower case. Given so, it need not make them for each response. */
const LOWER_CASE = new Map(PROFILE_FIELDS.map((name) => [name, name.toLowerCase()]))

/** Reads the request and the reply of Fastify. */
export function adapterOf(app: FastifyInstance): RequestAdapter<FastifyRequest, FastifyReply> {
  const trust = fastifyTrust(app)
  const exchange = nodeExchange<FastifyRequest, FastifyReply>(
    (request) => request.raw,
    (reply) => reply.raw,
  )
  return {
    ...exchange,
    setField: (reply, name, value) => void reply.header(LOWER_CASE.get(name) ?? name, value),
    setStatus: (reply, status) => void reply.code(status),
    // As bytes: to text Fastify would add a charset, which JSON does not have.
    send: (reply, body, mediaType) =>
      void reply.header('Content-Type', mediaType).send(Buffer.from(body)),
    whenEnded(reply, callback) {
      exchange.whenEnded(reply, callback)
      whenSocketClosed(exchange, reply, callback)
    },
    address: (request) => request.ip,
    proxyTrust: () => trust,
    user: (request) => (request as { user?: unknown }).user,
    path: (request) => request.url,
    route: (request) => request.routeOptions.url,
    decided(request, decision) {
      request.rateLimit = decision
    },
    // As with a handler: what `respond` returns is sent.
    responded(reply, payload) {
      if (payload !== undefined && !reply.sent) reply.send(payload)
    },
    abandon: (reply) => void reply.hijack(),
  }
}
