import type { IncomingMessage, ServerResponse } from 'node:http'
import { nodeExchange } from '@sluice/http/adapter'
import { type ShedLoadOptions as CoreOptions, LoadShedder } from '@sluice/http/overload'
import {
  type AnyRequest,
  type AnyResponse,
  type NestRequest,
  nestAdapter,
} from './request-adapter.ts'

export type { ClassOptions, OverloadEvent, QueueOptions } from '@sluice/http/overload'

export type ShedLoadOptions<Class extends string = string> = CoreOptions<NestRequest, Class>

/** Middleware for `app.use`, on Express and on Fastify: both call it with Node's messages. */
export type ShedLoadMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

/**
 * Middleware runs before guards and filters, so a refusal is written as it is, by Node's exchange.
 */
const adapter = {
  ...nestAdapter,
  ...nodeExchange<AnyRequest, AnyResponse>(
    (request) => request.raw ?? request,
    (response) => response.raw ?? response,
  ),
}

/**
 * Admits the requests that this process can serve, and refuses the others with 503, the least important first:
 * `app.use(shedLoad())`, before `app.listen`.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts another
 */
export function shedLoad<Class extends string = string>(
  options: ShedLoadOptions<Class> = {},
): ShedLoadMiddleware {
  const shedder = new LoadShedder<AnyRequest, AnyResponse>(options as ShedLoadOptions, adapter)
  return (request, response, next) => {
    const passed = shedder.handle(request as AnyRequest, response as AnyResponse)
    if (passed instanceof Promise) void passed.then((goesOn) => goesOn && next())
    else if (passed) next()
  }
}

export default shedLoad
