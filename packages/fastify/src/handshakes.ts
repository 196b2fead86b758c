import type { Socket } from 'node:net'
import type { Exchange } from '@sluice/http/adapter'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Node and @fastify/websocket note this on the request of a handshake. Clients can't. */
type Handshake = FastifyRequest & { ws?: boolean | null; raw: { upgrade?: boolean | null } }

/**
 * Closes the connection of a handshake once a response has been sent on it, such as a refusal: Node has
 * left the connection to the application.
 */
export function closeAfterResponse(request: FastifyRequest, { raw }: FastifyReply): void {
  if ((request as Partial<Handshake>).raw?.upgrade !== true) return
  const { socket } = raw
  raw.once('finish', () => (socket as Socket | null)?.destroySoon())
}

/**
 * Calls back when the connection of a WebSocket has closed, which has been opened by then: nobody ends the
 * response of its handshake.
 */
export function whenSocketClosed(
  exchange: Exchange<FastifyRequest, FastifyReply>,
  reply: FastifyReply,
  callback: () => void,
): void {
  // Clients write this field. What they can't is asked later: it may not be known yet.
  if (reply.request.headers.upgrade === undefined) return
  exchange.whenClosed(reply, () => {
    if ((reply.request as Handshake).ws === true && reply.sent) callback()
  })
}
