import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Decision, MaybePromise } from '@sluice/core'
import { checkFunction } from '@sluice/core/internal'
import type { RateLimitOptions as CoreOptions, LimitMethods, Routes } from '@sluice/http'
import { RoutedLimiter } from '@sluice/http/adapter'
import { answerFailure } from './failures.ts'
import { nodeAdapter } from './request-adapter.ts'
import { handOver, upgradeResponse } from './upgrade.ts'

export * from '@sluice/http'

export interface RateLimitOptions extends CoreOptions<IncomingMessage, ServerResponse> {
  /**
   * Options that differ by route, in the pattern syntax of path-to-regexp 8: `{ 'POST /login': {
   * limit: 5, window: '15m' }, '/health': false }`. The most specific entry wins, and an entry with
   * a method wins over one without.
   */
  routes?: Routes<IncomingMessage, ServerResponse> | undefined
}

const SERVED = 'that serves the request: (request, response) => limit(request, response, () => …)'

/**
 * Called instead of `next` with an error that an option's function threw, or with a refusal if
 * `respond` is `'throw'`.
 */
type Failed = (error: unknown) => void

/** The limiter of an HTTP/1.1, HTTPS or HTTP/2 server. */
export interface NodeRateLimit extends LimitMethods {
  /**
   * Calls `next` if it admits the request, and responds otherwise. Resolves when that is done, with
   * what `next` returns.
   *
   * @param failed default: responds with the status 500 and warns once
   */
  (
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
    next: () => unknown,
    failed?: Failed,
  ): MaybePromise<void>

  /**
   * Limits a server's `'upgrade'` event: calls `next` if it admits the handshake, and otherwise
   * responds and closes the connection. A slot (`concurrent`) is held until the connection closes.
   */
  upgrade(
    request: IncomingMessage,
    socket: Duplex,
    next: () => unknown,
    failed?: Failed,
  ): MaybePromise<void>

  /**
   * A handler that responds with what the client has used of each policy, without charging it.
   *
   * @param failed default: responds with the status 500 and warns once
   */
  usage(
    failed?: Failed,
  ): (
    request: IncomingMessage | Http2ServerRequest,
    response: ServerResponse | Http2ServerResponse,
  ) => Promise<void>
}

declare module 'node:http' {
  interface IncomingMessage {
    /** The decision of the last limiter; undefined if the request was exempt. */
    rateLimit?: Decision
  }
}
declare module 'node:http2' {
  interface Http2ServerRequest {
    rateLimit?: Decision
  }
}

/**
 * Limits the rate of requests: `const limit = rateLimit({ limit: 100, window: '1m' })`, then
 * `createServer((request, response) => limit(request, response, () => response.end('hello')))`. A
 * second limiter in `next` adds a limit.
 *
 * @throws SluiceError if an option is unknown, of the wrong type, out of range, or contradicts
 *   another
 */
export function rateLimit(options: RateLimitOptions): NodeRateLimit {
  const limiter = new RoutedLimiter(options, nodeAdapter)

  /** An error from `next` does not count as a failure of the limiter. */
  function decide(
    request: IncomingMessage,
    response: ServerResponse,
    next: () => unknown,
    failed: Failed = (error) => answerFailure(response, error),
  ): MaybePromise<void> {
    let passed: MaybePromise<boolean>
    checkFunction('next', next, SERVED)
    try {
      passed = limiter.handle(request, response)
    } catch (error) {
      return failed(error)
    }
    const goOn = (goesOn: boolean) => (goesOn ? next() : undefined) as MaybePromise<void>
    return passed instanceof Promise ? passed.then(goOn, failed) : goOn(passed)
  }

  const upgrade: NodeRateLimit['upgrade'] = (request, socket, next, failed) => {
    const connection = socket as Socket
    const response = upgradeResponse(request, connection)
    const goOn = () => {
      handOver(response, connection)
      return next()
    }
    return decide(request, response, goOn, failed)
  }

  const usage: NodeRateLimit['usage'] = (failed) => async (request, response) => {
    const answer = response as ServerResponse
    const fail = failed ?? ((error) => answerFailure(answer, error))
    await limiter.usage(request as IncomingMessage, answer).catch(fail)
  }

  return Object.assign(decide as NodeRateLimit, {
    upgrade,
    limiter: limiter.limiter,
    usage,
    openapi: limiter.openapi,
  })
}

export default rateLimit
