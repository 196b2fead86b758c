import { HttpException } from '@nestjs/common'
import type { RateLimitError } from '@sluice/core'

/** A refusal, for exception filters. Its response is the problem document of the refusal. */
export class RateLimitException extends HttpException {
  declare readonly cause: RateLimitError

  /** @param body the problem document */
  constructor(error: RateLimitError, body: string) {
    super(JSON.parse(body) as object, error.status, { cause: error })
    this.message = error.message
  }
}
