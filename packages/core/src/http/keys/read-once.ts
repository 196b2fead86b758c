import type { RequestAdapter } from '../request-adapter.ts'
import type { AddressReader } from './trust-proxy.ts'

/**
 * Reads the address of a request once, however many policies and lists ask for it: a framework
 * may walk through thousands of entries of X-Forwarded-For each time.
 */
export function readOnce<Request>(
  read: AddressReader<Request>,
  adapter: RequestAdapter<Request, never>,
): AddressReader<Request> {
  const known = new WeakMap<object, { readonly address: string | undefined }>()
  return (request) => {
    const identity = adapter.identity(request)
    let found = known.get(identity)
    if (found === undefined) {
      found = { address: read(request) }
      known.set(identity, found)
    }
    return found.address
  }
}
