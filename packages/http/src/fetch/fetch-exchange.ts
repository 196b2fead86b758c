import { isResponse, sendableOf } from '../refusal/result.ts'
import type { Exchange } from '../request-adapter.ts'
import type { FetchReply } from './fetch-reply.ts'

/** A response that is never read: its client has gone. */
const CLIENT_CLOSED_REQUEST = 499

/**
 * The half of an adapter for servers of the Fetch standard, which call a function with a `Request`
 * and get a `Response`.
 *
 * @param incoming the standard's request of a framework's request
 * @param peer the address at the other end of the connection, which the standard does not have
 */
export function fetchExchange<Context>(
  incoming: (context: Context) => Request,
  peer: (context: Context) => string | undefined,
): Exchange<Context, FetchReply> {
  return {
    peer,
    method: (context) => incoming(context).method,
    header: (context, name) => incoming(context).headers.get(name) ?? undefined,
    isGone: (context) => incoming(context).signal.aborted,
    identity: incoming,
    setField: (reply, name, value) => reply.setField(name, value),
    removeField: (reply, name) => reply.removeField(name),
    status: (reply) => reply.status,
    setStatus(reply, status) {
      reply.status = status
    },
    send(reply, body, mediaType) {
      const bytes = new TextEncoder().encode(body)
      const headers = { 'Content-Type': mediaType, 'Content-Length': String(bytes.length) }
      reply.refuse(bytes, new Headers(headers))
    },
    responded(reply, result) {
      if (reply.isHeadSent || isResponse(result)) {
        reply.refuseWith(isResponse(result) ? result : new Response())
        return true
      }
      const sendable = sendableOf(result)
      if (sendable === undefined) return false
      const { body, mediaType } = sendable
      reply.refuse(
        body as Parameters<FetchReply['refuse']>[0],
        new Headers({ 'Content-Type': mediaType }),
      )
      return true
    },
    abandon: (reply) => reply.answer(new Response(null, { status: CLIENT_CLOSED_REQUEST })),
    isHeadSent: (reply) => reply.isHeadSent,
    beforeHead: (reply, callback) =>
      void reply.head.on(() => callback((name, value) => reply.setField(name, value))),
    whenEnded: (reply, callback) => void reply.ended.on(callback),
    isHandedOver: (reply) => reply.ended.happened,
    observeClient: (reply) => reply.observeClient(),
    isClosed: (reply) => reply.isClosed,
    whenClosed: (reply, callback) => reply.whenClosed(callback),
    progress: (reply) => reply,
  }
}
