import type { Limiter } from '@sluice/core'
import type { OpenApiDocument } from './openapi/describe-limits.ts'

/** The methods of what limits requests, in every adapter. */
export interface LimitMethods {
  /** The limiter, for your own calls. */
  readonly limiter: Limiter
  /**
   * Returns a copy of an OpenAPI document in which each operation that it limits has the refusal
   * and the header fields. Rejects with a SluiceError if it is no OpenAPI 3 document.
   */
  openapi<D extends OpenApiDocument>(document: D): Promise<D>
}

/** The methods of a middleware. */
export interface MiddlewareMethods<Handler> extends LimitMethods {
  /**
   * A handler that responds with what the client has used of each policy, without charging it.
   * Register it before the limiter.
   */
  usage(): Handler
}
