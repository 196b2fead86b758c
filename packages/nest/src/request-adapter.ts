import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { HttpException } from '@nestjs/common'
import type { Decision } from '@sluice/core'
import {
  beginsSoon,
  expressTrust,
  fastifyTrust,
  isResponse,
  nodeExchange,
  notOfFramework,
  type RequestAdapter,
  readResponse,
  sendableOf,
} from '@sluice/http/adapter'
import { RateLimitException } from './exception.ts'

/** The common part of the requests of Express and of Fastify. */
export interface NestRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly ip?: string | undefined
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly user?: unknown
  /** The decision of the last limiter; undefined if the request was exempt. */
  rateLimit?: Decision
}

/** The common part of the responses of Express and of Fastify. */
export interface NestResponse {
  readonly statusCode: number
  getHeader(name: string): number | string | string[] | undefined
  status(code: number): this
  header(name: string, value: string): this
  send(body?: unknown): unknown
}

/** A request of Express, of Fastify, or of Node alone: a WebSocket's handshake. */
export type AnyRequest = IncomingMessage &
  NestRequest & {
    readonly raw?: IncomingMessage
    readonly app?: { get(setting: string): unknown }
    readonly server?: { readonly version: string }
    readonly route?: { readonly path: string }
    readonly routeOptions?: { readonly url?: string }
  }

export type AnyResponse = ServerResponse & {
  readonly raw?: ServerResponse
  readonly sent?: boolean
  header?(name: string, value: string): unknown
  json?(body: unknown): unknown
  send?(body: unknown): unknown
}

/**
 * Sets the media type of a refusal when it is written: Nest replaces other media types of JSON, and
 * a filter that responds with something else keeps its own type.
 */
export function typeWhenWritten(response: AnyResponse, refusal: RateLimitException): void {
  const method = response.raw === undefined ? 'json' : 'send'
  const write = response[method]
  // A message has a response that nobody sends.
  if (write === undefined) return
  response[method] = function (body) {
    if (body === refusal.getResponse()) {
      nestAdapter.setField(response, 'Content-Type', refusal.mediaType)
    }
    return write.call(this, body)
  }
}

/** Every request has one of these. */
const PARTS = ['socket', 'headers', 'method', 'url']

/** Whether it is something else, such as the context of a subscription. A test may have made an empty object. */
function isOther(request: object): boolean {
  if (PARTS.some((name) => name in request)) return false
  for (const name in request) if (name !== 'rateLimit') return true
  return false
}

/** Takes the status and the fields of a `Response` that `respond` has returned. */
async function bodyOf(response: AnyResponse, result: Response): Promise<unknown> {
  const setStatus = (status: number) => nestAdapter.setStatus(response, status)
  const setField = (name: string, value: string | string[]) =>
    nestAdapter.setField(response, name, value as string)
  const text = Buffer.from(await readResponse(result, setStatus, setField)).toString()
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Reads the requests and the responses of Nest's platforms. */
export const nestAdapter: RequestAdapter<AnyRequest, AnyResponse> = {
  ...nodeExchange<AnyRequest, AnyResponse>(
    (request) => request.raw ?? request,
    (response) => response.raw ?? response,
  ),
  // Fastify replaces fields that it does not know of.
  setField: (response, name, value) =>
    void (response.raw === undefined
      ? response.setHeader(name, value)
      : response.header?.(name, value)),
  send(_response, body, mediaType, toError) {
    throw new RateLimitException(toError(), body, mediaType)
  },
  toThrown: (error, body, mediaType) => new RateLimitException(error, body, mediaType),
  address(request) {
    if ('ip' in request) return request.ip
    if (isOther(request)) throw notOfFramework('request', 'a request', request)
    return request.socket?.remoteAddress
  },
  proxyTrust: ({ app, server }) =>
    server === undefined ? expressTrust(app?.get('trust proxy')) : fastifyTrust(server),
  user: (request) => request.user,
  path: (request) => request.url,
  route: (request) => request.routeOptions?.url ?? request.route?.path,
  decided(request, decision) {
    request.rateLimit = decision
  },
  // As with a handler: what `respond` returns is sent, unless it has sent something itself.
  async responded(response, result) {
    const raw = response.raw ?? response
    const isSent = () => raw.headersSent || response.sent === true
    if (isSent()) return true
    const body = isResponse(result) ? await bodyOf(response, result) : result
    if (typeof body !== 'string' && sendableOf(body) === undefined) return beginsSoon(raw, isSent)
    throw new HttpException(body as object, nestAdapter.status(response))
  },
}
