import { type ServerResponse, STATUS_CODES } from 'node:http'
import { textOf, warnOnce } from '@sluice/core/internal'
import { RateLimitError } from '@sluice/http'

/**
 * Answers a request that could not be decided, or whose refusal is thrown: there is no framework
 * whose error handler would.
 */
export function answerFailure(response: ServerResponse, error: unknown): void {
  // An object that a test has made: there is nothing to answer with.
  if (typeof response.setHeader !== 'function') throw error
  const refused = error instanceof RateLimitError
  if (!refused) {
    warnOnce(
      'SLUICE_REQUEST_FAILED',
      `A function of the options threw ${textOf(error)}. The request got the status 500. Fix the function, or handle errors in the last argument of the limiter.`,
    )
  }
  if (response.headersSent) return
  response.statusCode = refused ? error.status : 500
  const body = refused ? error.message : (STATUS_CODES[500] as string)
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.setHeader('Content-Length', Buffer.byteLength(body))
  response.end(body)
}
