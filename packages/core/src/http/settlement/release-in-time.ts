import type { HeldSlot } from '../../limiter/held-slots.ts'
import type { RequestAdapter } from '../request-adapter.ts'

/**
 * Gives slots back when the application has ended the response, and all of it has been handed to the
 * connection or the client has gone. So a client that leaves frees nothing while the application
 * still works for it, and one that reads slowly holds nothing once the application is done. If the
 * application never ends the response of a client that has gone, the slots are free after `hold`. A
 * platform that does not report every end renews them as bytes are taken.
 */
export function releaseInTime<Response>(
  held: HeldSlot,
  adapter: RequestAdapter<never, Response>,
  response: Response,
): void {
  let ended = false
  const check = () => {
    const closed = adapter.isClosed(response)
    if (ended && (closed || adapter.isHandedOver(response))) void held.release()
    else if (closed) held.abandon()
  }
  adapter.whenEnded(response, () => {
    ended = true
    check()
  })
  adapter.whenClosed(response, check)
  adapter.progress?.(response).onProgress(() => {
    if (!ended && !adapter.isClosed(response)) held.touch()
  })
}
