import { type IncomingMessage, ServerResponse } from 'node:http'
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common'
import { type MaybePromise, SluiceError } from '@sluice/core'
import { RateLimits } from './rate-limits.ts'
import type { AnyRequest, AnyResponse } from './request-adapter.ts'

/** What the guard reads and writes; without a response, no fields are written. */
export interface HttpExchange {
  readonly request: object
  readonly response?: object
}

/**
 * Lets each request to a handler through, or throws a `RateLimitException`. Requests of unknown
 * routes reach no guard.
 */
export class RateLimitGuard implements CanActivate {
  private readonly limits: RateLimits

  constructor(limits: RateLimits) {
    this.limits = limits
  }

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const httpLimiter = this.limits.of(context.getClass(), context.getHandler() as never)
    if (httpLimiter === undefined) return true
    const exchange = this.getRequest(context)
    if (exchange.response === undefined && httpLimiter.settles) throw neverEnds()
    const { request, response } = exchange.response === undefined ? apart(exchange) : exchange
    const handled = httpLimiter.handle(
      request as AnyRequest,
      response as AnyResponse,
      () => true as const,
    )
    if (handled instanceof Promise) return handled.then((passed) => passed ?? never())
    return handled ?? never()
  }

  /** To be overridden where a handler's first argument is not the request: GraphQL, WebSockets. */
  protected getRequest(context: ExecutionContext): HttpExchange {
    const http = context.switchToHttp()
    return { request: http.getRequest(), response: http.getResponse() }
  }
}

/** One message of many that belong to a request, with a response of its own that nobody sends. */
function apart({ request }: HttpExchange): HttpExchange {
  const own = Object.create(request) as IncomingMessage
  return { request: own, response: new ServerResponse(own) }
}

function neverEnds(): SluiceError {
  return new SluiceError({
    code: 'SLUICE_OPTION_CONFLICT',
    option: 'settle, concurrent',
    expected: 'a response, at whose end costs are settled and slots are freed',
    received: undefined,
    fix: 'Return one from getRequest, or exempt the handler and call limiter.consume or limiter.acquire.',
  })
}

/**
 * For a request whose response is sent, or whose client has gone: as in a middleware that does not
 * call `next`, no handler runs and no filter sees an exception. Not shared, so that it is collected.
 */
function never(): Promise<never> {
  return new Promise(() => {})
}

// Calls instead of syntax: what decorators compile to differs between compilers.
Injectable()(RateLimitGuard)
Inject(RateLimits)(RateLimitGuard, undefined as never, 0)
