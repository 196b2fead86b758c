import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'

/** Callbacks for the end of a connection: one listener each, however many requests are pipelined. */
const onSocket = new WeakMap<Socket, Set<() => void>>()

/** Whether the response has been sent, or its client has gone away. */
export function isClosed(response: ServerResponse): boolean {
  // HTTP/2 has no `closed`: there, a stream ends.
  const { stream } = response as { stream?: Http2ServerResponse['stream'] }
  if (stream !== undefined) return stream.destroyed || stream.closed
  return (
    // Deno has no `closed` either.
    response.destroyed ||
    (isQueued(response) && response.req.socket.destroyed) ||
    injectedBody(response)?.destroyed === true
  )
}

/**
 * Calls back once: when the response has been sent, or its client has gone away.
 * @returns a function that cancels it
 */
export function whenClosed(response: ServerResponse, callback: () => void): () => void {
  if (isClosed(response)) {
    callback()
    return () => {}
  }
  const queue = isQueued(response) ? queueOf(response.req.socket) : undefined
  const body = injectedBody(response)
  const callOff = () => {
    response.removeListener('close', closed)
    body?.removeListener('close', closed)
    queue?.delete(closed)
  }
  const closed = () => {
    callOff()
    callback()
  }
  response.once('close', closed)
  body?.once('close', closed)
  queue?.add(closed)
  return callOff
}

/**
 * Whether it waits behind another on its connection (pipelining, RFC 9112 §9.3.2): when that
 * connection ends, Node notifies only the response that is being sent.
 */
export function isQueued(response: ServerResponse): boolean {
  return response.socket === null
}

/**
 * The stream that `app.inject` of Fastify returns with `payloadAsStream`. When its reader leaves, or its `signal`
 * is aborted, light-my-request destroys nothing else.
 */
function injectedBody(response: ServerResponse): Readable | undefined {
  return (response as { _lightMyRequest?: { stream?: Readable } })._lightMyRequest?.stream
}

function queueOf(socket: Socket): Set<() => void> {
  const known = onSocket.get(socket)
  if (known !== undefined) return known
  const queue = new Set<() => void>()
  onSocket.set(socket, queue)
  socket.once('close', () => {
    for (const each of [...queue]) each()
  })
  return queue
}
