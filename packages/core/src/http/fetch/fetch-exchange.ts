import type { Exchange } from '../request-adapter.ts'
import type { FetchReply } from './fetch-reply.ts'

/** A response that is never read: its client has gone. */
const CLIENT_GONE = 499

/**
 * The half of an adapter for servers of the Fetch standard, which call a function with a `Request`
 * and get a `Response`.
 *
 * @param peer the address at the other end of the connection, which the standard does not have
 */
export function fetchExchange(
  peer: (request: Request) => string | undefined,
): Exchange<Request, FetchReply> {
  return {
    peer,
    method: (request) => request.method,
    header: (request, name) => request.headers.get(name) ?? undefined,
    isGone: (request) => request.signal.aborted,
    identity: (request) => request,
    setField: (reply, name, value) => reply.fields.set(name, value),
    removeField: (reply, name) => reply.fields.delete(name),
    status: (reply) => reply.status,
    setStatus(reply, status) {
      reply.status = status
    },
    send(reply, body, mediaType) {
      const headers = {
        'Content-Type': mediaType,
        'Content-Length': String(Buffer.byteLength(body)),
      }
      reply.answer(new Response(body, { status: reply.status, headers }))
    },
    // With the status set before, as in a framework.
    responded(reply, result) {
      const { body, headers } = result instanceof Response ? result : new Response(null)
      reply.answer(new Response(body, { status: reply.status, headers }))
    },
    abandon: (reply) => reply.answer(new Response(null, { status: CLIENT_GONE })),
    isHeadSent: (reply) => reply.head.happened,
    beforeHead: (reply, callback) => void reply.head.on(callback),
    whenEnded: (reply, callback) => void reply.ended.on(callback),
    isHandedOver: (reply) => reply.ended.happened,
    isClosed: (reply) => reply.closed.happened,
    whenClosed: (reply, callback) => reply.closed.on(callback),
  }
}
