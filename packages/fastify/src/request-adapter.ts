import {
  beginsSoon,
  fastifyTrust,
  isResponse,
  nodeExchange,
  PROFILE_FIELDS,
  type RequestAdapter,
  readResponse,
  sendableOf,
} from '@sluice/http/adapter'
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
    // A reply is thenable: an async function that returned it unsent would wait for the end of its own wait.
    async responding(reply, respond) {
      Object.defineProperty(reply, 'then', { value: undefined, configurable: true })
      try {
        const result = await respond()
        return result === reply ? undefined : result
      } finally {
        Reflect.deleteProperty(reply, 'then')
      }
    },
    // As with a handler: what `respond` returns is sent.
    async responded(reply, payload) {
      if (reply.sent || reply.raw.headersSent) return true
      if (isResponse(payload)) {
        const setStatus = (status: number) => void reply.code(status)
        const setField = (name: string, value: string | string[]) => void reply.header(name, value)
        reply.send(Buffer.from(await readResponse(payload, setStatus, setField)))
      } else if (isPayload(payload)) reply.send(payload)
      else return beginsSoon(reply.raw, () => reply.sent || reply.raw.headersSent)
      return true
    },
    abandon: (reply) => void reply.hijack(),
  }
}

/** Whether Fastify is to send it, or to report that it can't. Timers and the like are left out. */
function isPayload(payload: unknown): boolean {
  if (typeof payload !== 'object') return payload !== undefined
  return (
    typeof (payload as { pipe?: unknown } | null)?.pipe === 'function' ||
    sendableOf(payload) !== undefined
  )
}
