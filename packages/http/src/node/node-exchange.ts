import type { IncomingMessage, ServerResponse } from 'node:http'
import { beforeHead, byteLength } from '@sluice/core/internal'
import { notOfFramework } from '../not-of-framework.ts'
import type { Exchange } from '../request-adapter.ts'
import { pauseBody } from './pause-body.ts'
import { sendResult } from './send-result.ts'
import { isClosed, isQueued, whenClosed } from './when-closed.ts'
import { whenEnded } from './when-ended.ts'

/**
 * The half of an adapter for frameworks on Node's own servers, HTTP/1.1 and HTTP/2.
 *
 * @param incoming Node's message of a framework's request
 * @param outgoing Node's response of a framework's response
 */
export function nodeExchange<Request, Response>(
  incoming: (request: Request) => IncomingMessage,
  outgoing: (response: Response) => ServerResponse,
): Exchange<Request, Response> {
  return {
    method(request) {
      const message = incoming(request)
      // Where a limiter looks at a request first.
      if (message === undefined)
        throw notOfFramework('request', "a request of the adapter's framework", message)
      return message.method as string
    },
    // Node joins the values of all fields but Set-Cookie, which no request has.
    // A request that a test has made may have neither fields nor a socket.
    header: (request, name) => incoming(request).headers?.[name] as string | undefined,
    peer: (request) => incoming(request).socket?.remoteAddress,
    isGone: (request) => incoming(request).socket?.destroyed === true,
    identity: incoming,
    setField: (response, name, value) => void outgoing(response).setHeader(name, value),
    removeField: (response, name) => outgoing(response).removeHeader(name),
    status: (response) => outgoing(response).statusCode,
    setStatus(response, status) {
      outgoing(response).statusCode = status
    },
    send(response, body, mediaType) {
      const raw = outgoing(response)
      raw.setHeader('Content-Type', mediaType)
      raw.setHeader('Content-Length', byteLength(body))
      raw.end(body)
    },
    pauseBody(request, response) {
      const message = incoming(request)
      return message.readableFlowing === true ? pauseBody(message, outgoing(response)) : undefined
    },
    responded(response, result) {
      const raw = outgoing(response)
      if (raw.headersSent || raw.writableEnded) return true
      return sendResult(raw, result)
    },
    isSending: (request) => incoming(request).complete === false,
    isHeadSent(response) {
      const message = outgoing(response)
      // Where a limiter looks at a response first.
      if (typeof message?.setHeader !== 'function')
        throw notOfFramework('response.setHeader', 'a function', message?.setHeader)
      return message.headersSent
    },
    beforeHead(response, callback) {
      const raw = outgoing(response)
      beforeHead(raw, () => callback((name, value) => raw.setHeader(name, value)))
    },
    whenEnded: (response, callback) => whenEnded(outgoing(response), callback),
    isHandedOver(response) {
      const raw = outgoing(response)
      return raw.writableEnded && !isQueued(raw)
    },
    isClosed: (response) => isClosed(outgoing(response)),
    whenClosed: (response, callback) => whenClosed(outgoing(response), callback),
  }
}
