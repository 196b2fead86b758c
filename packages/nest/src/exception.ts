import { HttpException } from '@nestjs/common'
import type { RateLimitError } from '@sluice/http'

/** A refusal, for exception filters. Its response is the problem document of the refusal. */
export class RateLimitException extends HttpException {
  declare readonly cause: RateLimitError
  /** The media type of its response, which is the form that the client asked for. Not enumerable. */
  declare readonly mediaType: string

  /** @param body the problem document */
  constructor(error: RateLimitError, body: string, mediaType: string) {
    super(JSON.parse(body) as object, error.status, { cause: error })
    this.message = error.message
    Object.defineProperty(this, 'mediaType', { value: mediaType })
  }
}
