import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { noteEnd } from '@sluice/http/adapter'

/** A failing connection must not end the process while nobody else listens. */
const ignore = () => {}

/**
 * The response to a handshake, which Node does not make: for a refusal, after which the connection
 * closes. Until `handOver` it has the connection.
 */
export function upgradeResponse(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.destroySoon())
  socket.on('error', ignore)
  return response
}

/** Leaves the connection to the application. The response lasts as long as the connection. */
export function handOver(response: ServerResponse, socket: Socket): void {
  socket.off('error', ignore)
  response.detachSocket(socket)
  socket.once('close', () => noteEnd(response))
}
