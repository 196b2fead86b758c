import { type IncomingMessage, ServerResponse } from 'node:http'
import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  SetMetadata,
} from '@nestjs/common'
import { type MaybePromise, SluiceError } from '@sluice/core'
import { warnOnce } from '@sluice/core/internal'
import { GUARD } from './decorators.ts'
import { RateLimitException } from './exception.ts'
import { RateLimits } from './rate-limits.ts'
import { type AnyRequest, type AnyResponse, typeWhenWritten } from './request-adapter.ts'

/** The request and response of a guard; without a response, no fields are written. */
export interface HttpExchange {
  readonly request: object
  readonly response?: object
}

/**
 * Lets each request to a handler through, or throws a `RateLimitException`. Requests of unknown
 * routes reach no guard. Several guards with the same limiters count a request once.
 */
export class RateLimitGuard implements CanActivate {
  readonly #limits: RateLimits

  /** @throws SluiceError if it gets something else: Nest makes it with the `RateLimits` of the module */
  constructor(limits: RateLimits) {
    if (typeof limits?.of !== 'function') throw noLimits(limits)
    limits.isUsed = true
    this.#limits = limits
  }

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const httpLimiter = this.#limits.of(context.getClass(), context.getHandler() as never)
    if (httpLimiter === undefined) return true
    const exchange = this.getRequest(context)
    if (exchange === undefined) return true
    if (exchange.response === undefined && httpLimiter.compiled.followsUp) throw neverEnds()
    const { request, response } = exchange.response === undefined ? apart(exchange) : exchange
    const refused = (error: unknown) => {
      if (error instanceof RateLimitException) typeWhenWritten(response as AnyResponse, error)
      throw error
    }
    try {
      // Each call of a handler counts: one request may have many, such as the messages of a connection.
      // Nest gives all guards of a call the same context.
      const passed = httpLimiter.handle(request as AnyRequest, response as AnyResponse, context)
      if (passed instanceof Promise) return passed.then((goesOn) => goesOn || never(), refused)
      return passed || never()
    } catch (error) {
      return refused(error)
    }
  }

  /**
   * Returns the request of a controller's handler. Override it for GraphQL, WebSockets and
   * microservices, whose handlers are otherwise not limited.
   *
   * @returns undefined: the handler is not limited
   */
  protected getRequest(context: ExecutionContext): HttpExchange | undefined {
    // A context that a test has made may not say its type.
    if ((context.getType?.() ?? 'http') !== 'http') return notLimited(context)
    const http = context.switchToHttp()
    return { request: http.getRequest(), response: http.getResponse() }
  }
}

function noLimits(received: unknown): SluiceError {
  return new SluiceError({
    code: 'SLUICE_OPTION_TYPE',
    option: 'RateLimitGuard',
    expected: 'the RateLimits of the module',
    received,
    fix: 'Let Nest make it: { provide: APP_GUARD, useClass: RateLimitGuard } or @UseGuards(RateLimitGuard). Elsewhere, write new RateLimitGuard(app.get(RateLimits)).',
  })
}

function notLimited(context: ExecutionContext): undefined {
  warnOnce(
    'SLUICE_CONTEXT_UNLIMITED',
    `${context.getClass().name}.${context.getHandler().name} is called by '${context.getType()}', not by HTTP, so RateLimitGuard lets it through. ` +
      'Override getRequest in a class of your own to name the request that is limited, or to return undefined if nothing is.',
  )
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
 * The answer for a request whose response is sent, or whose client has gone: as in a middleware that does not
 * call `next`, no handler runs and no filter sees an exception. Not shared, so that it is collected.
 */
function never(): Promise<never> {
  return new Promise(() => {})
}

// Calls instead of syntax: what decorators compile to differs between compilers.
Injectable()(RateLimitGuard)
SetMetadata(GUARD, true)(RateLimitGuard)
Inject(RateLimits)(RateLimitGuard, undefined as never, 0)
