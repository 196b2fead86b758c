import { SluiceError } from '@sluice/core'
import { readAdapterOption } from '@sluice/core/internal'
import type { TrustProxyOption } from '@sluice/http'

/** Where the client's address comes from, which no request of the Fetch standard has. */
export type AddressOption<Args extends unknown[]> = (...args: Args) => string | undefined

/** The options that identify the client of a request. */
interface ClientOptions {
  readonly compiled: { readonly needsAddress: boolean }
  readonly options: { readonly trustProxy?: TrustProxyOption | undefined }
}

/** The option `address`. @throws SluiceError if it is not a function */
export function readAddress<Args extends unknown[]>(
  options: object,
): AddressOption<Args> | undefined {
  return readAdapterOption('address', options) as AddressOption<Args> | undefined
}

/**
 * Checks that clients are told apart in another way. Called if there is no `address`.
 *
 * @throws SluiceError if nothing else says who a client is, on some route, for some policy, `allow` or
 *   `deny`: all clients would share one quota there, or the list would name nobody
 */
export function checkClients(limiters: Iterable<ClientOptions>): void {
  for (const { compiled, options } of limiters) {
    if (!compiled.needsAddress || standsAlone(options.trustProxy)) continue
    throw new SluiceError({
      code: 'SLUICE_OPTION_TYPE',
      option: 'address',
      expected:
        'a function that returns the address of the client, or a key function in every policy and route and no addresses in allow and deny',
      received: undefined,
      fix: "On Node: address: (c) => getConnInfo(c).remote.address, with getConnInfo of '@hono/node-server/conninfo'. Other runtimes have their own getConnInfo.",
    })
  }
}

/** Whether `trustProxy` needs no address of the connection: it trusts so many hops, or asks a function. */
function standsAlone(option: TrustProxyOption | undefined): boolean {
  const isNamed = typeof option === 'object' && 'proxies' in option
  const proxies = isNamed ? option.proxies : option
  return typeof proxies === 'number' || typeof proxies === 'function'
}
