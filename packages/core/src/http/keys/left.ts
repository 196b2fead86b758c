import type { MaybePromise } from '../../maybe-promise.ts'
import type { RequestAdapter } from '../request-adapter.ts'
import type { AddressReader } from './trust-proxy.ts'

/** The client has disconnected before its address was read, so its key is unknown. */
export const LEFT = Symbol('sluice.left')

/**
 * Reads an address; throws `LEFT` if there is none because the client has gone. Such a request
 * must not be charged to the quota that clients without an address share.
 */
export function presentAddress<Request>(
  read: AddressReader<Request>,
  adapter: RequestAdapter<Request, never>,
): AddressReader<Request> {
  return (request) => {
    const address = read(request)
    if (!address && adapter.isGone(request)) throw LEFT
    return address
  }
}

/** What `read` gives, or `LEFT` if that was thrown. */
export function orLeft<T>(read: () => MaybePromise<T>): MaybePromise<T | typeof LEFT> {
  try {
    const value = read()
    return value instanceof Promise ? value.catch(leftOnly) : value
  } catch (error) {
    return leftOnly(error)
  }
}

function leftOnly(error: unknown): typeof LEFT {
  if (error === LEFT) return LEFT
  throw error
}
