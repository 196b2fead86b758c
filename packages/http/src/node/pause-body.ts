import type { IncomingMessage, ServerResponse } from 'node:http'
import { whenClosed } from './when-closed.ts'

/**
 * Pauses a request whose body flows, until the function that it returns is called. Without a call it flows again
 * when the response has been sent: Node reads the next request of the connection only behind this body.
 */
export function pauseBody(request: IncomingMessage, response: ServerResponse): () => void {
  request.pause()
  const resume = () => void request.resume()
  const cancel = whenClosed(response, resume)
  return () => {
    cancel()
    resume()
  }
}
