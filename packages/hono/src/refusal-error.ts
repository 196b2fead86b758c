import type { Decision } from '@sluice/core'
import type { RateLimitError as CoreError } from '@sluice/http'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

/**
 * A refusal as an error, for `respond: 'throw'`. Without `onError`, Hono sends its response, as for
 * every `HTTPException`.
 */
export class RateLimitError extends HTTPException {
  override readonly name = 'RateLimitError'
  readonly code: CoreError['code']
  readonly statusCode: number
  /** The message may be shown to the client. */
  readonly expose = true
  readonly decision: Decision
  /** The fields of the refusal. */
  readonly headers: Readonly<Record<string, string>>
  readonly #body: string
  readonly #mediaType: string

  constructor(error: CoreError, body: string, mediaType: string) {
    super(error.status as ContentfulStatusCode, { message: error.message })
    this.code = error.code
    this.statusCode = error.statusCode
    this.decision = error.decision
    this.headers = error.headers
    this.#body = body
    this.#mediaType = mediaType
  }

  /** A new one at each call. */
  override getResponse(): Response {
    const headers = { ...this.headers, 'Content-Type': this.#mediaType }
    return new Response(this.#body, { status: this.status, headers })
  }
}
