import type { ServerResponse } from 'node:http'
import { isResponse, readResponse, sendableOf } from '../refusal/result.ts'
import { whenClosed } from './when-closed.ts'

/** How long a response may take to begin after `respond` has returned: a file, a template with a callback. ms. */
const GRACE_MS = 1000

/**
 * Sends what `respond` has returned, unless a response has begun, or begins soon.
 *
 * @param result the framework's response itself is nothing to be sent: `response.status(429)` returns it
 * @returns whether the request is answered
 */
export async function sendResult(response: ServerResponse, result: unknown): Promise<boolean> {
  if (isResponse(result)) {
    const setStatus = (status: number) => {
      response.statusCode = status
    }
    response.end(await readResponse(result, setStatus, (...field) => response.setHeader(...field)))
    return true
  }
  const sendable = sendableOf(result)
  if (sendable === undefined) return beginsSoon(response)
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', sendable.mediaType)
  response.end(sendable.body)
  return true
}

/** Whether the application begins to send a response, or the client leaves, within the time that it has. */
export function beginsSoon(
  response: ServerResponse,
  hasBegun = () => response.headersSent || response.writableEnded,
): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      unwatch()
      resolve(hasBegun())
    }, GRACE_MS)
    const unwatch = whenClosed(response, () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
