import { HttpException } from '@nestjs/common'
import type { RateLimitError } from '@sluice/core'

/** A refusal, for exception filters. Its response is the problem document of the refusal. */
export class RateLimitException extends HttpException {
  declare readonly cause: RateLimitError

  /**
   * @param body the problem document
   * @param serialized called whenever the document is serialized
   */
  constructor(error: RateLimitError, body: string, serialized: () => void) {
    const problem = JSON.parse(body) as object
    // On Express, Nest replaces other media types of JSON before it serializes a response. A filter
    // that responds with something else keeps its own type.
    const toJSON = () => {
      serialized()
      return problem
    }
    super(Object.defineProperty({ ...problem }, 'toJSON', { value: toJSON }), error.status, {
      cause: error,
    })
    this.message = error.message
  }
}
