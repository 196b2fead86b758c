import type { IncomingMessage } from 'node:http'
import type { Framework } from '../request.ts'
import type { AddressReader } from './proxies.ts'

/**
 * Reads the address of a request once, however many policies and lists ask for it: a framework
 * may walk through thousands of entries of X-Forwarded-For each time.
 */
export function readOnce<Request>(
  read: AddressReader<Request>,
  framework: Framework<Request, never>,
): AddressReader<Request> {
  const known = new WeakMap<IncomingMessage, { readonly address: string | undefined }>()
  return (request) => {
    const incoming = framework.incoming(request)
    let found = known.get(incoming)
    if (found === undefined) {
      found = { address: read(request) }
      known.set(incoming, found)
    }
    return found.address
  }
}
