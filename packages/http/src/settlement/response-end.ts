import type { RequestAdapter } from '../request-adapter.ts'

/**
 * Calls back when the application has ended the response, perhaps several times, and when its client has gone.
 * It is over when the application has ended it, and all of it has been handed to the connection or the client
 * has gone. So a client that leaves ends nothing while the application still works for it, and one that reads
 * slowly holds nothing once the application is done.
 */
export function watchEnd<Response>(
  adapter: RequestAdapter<never, Response>,
  response: Response,
  changed: (isOver: boolean, isClosed: boolean) => void,
): void {
  let ended = false
  const check = () => {
    const closed = adapter.isClosed(response)
    changed(ended && (closed || adapter.isHandedOver(response)), closed)
  }
  adapter.whenEnded(response, () => {
    ended = true
    check()
  })
  adapter.whenClosed(response, check)
}
