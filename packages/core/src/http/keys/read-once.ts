import type { IncomingMessage } from 'node:http'
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
  const known = new WeakMap<IncomingMessage, { readonly address: string | undefined }>()
  return (request) => {
    const incoming = adapter.incoming(request)
    let found = known.get(incoming)
    if (found === undefined) {
      found = { address: read(request) }
      known.set(incoming, found)
    }
    return found.address
  }
}
