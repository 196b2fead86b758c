import { type KeyOption, SluiceError, type TrustProxyOption } from '@sluice/core'
import { readAdapterOption } from '@sluice/core/adapter'

/** Where the client's address comes from, which no request of the Fetch standard has. */
export type AddressOption<Args extends unknown[]> = (...args: Args) => string | undefined

/** The options that say who a client is. */
interface ClientOptions {
  readonly key?: KeyOption<never>
  readonly trustProxy?: TrustProxyOption
}

/**
 * The option `address`.
 * @throws SluiceError if it is not a function, or is missing although nothing else says who a client
 *   is: all clients would share one quota
 */
export function readAddress<Args extends unknown[]>(options: ClientOptions): AddressOption<Args> {
  const address = readAdapterOption('address', options)
  if (address !== undefined) return address as AddressOption<Args>
  if (typeof options.key === 'function' || standsAlone(options.trustProxy)) return () => undefined
  throw new SluiceError({
    code: 'SLUICE_OPTION_TYPE',
    option: 'address',
    expected: 'a function that returns the address of the client, or a key function',
    received: address,
    fix: "On Node: address: (c) => getConnInfo(c).remote.address, with getConnInfo of '@hono/node-server/conninfo'. Other runtimes have their own getConnInfo.",
  })
}

/** Whether `trustProxy` needs no address of the connection: it trusts so many hops, or asks a function. */
function standsAlone(option: TrustProxyOption | undefined): boolean {
  const isNamed = typeof option === 'object' && 'proxies' in option
  const proxies = isNamed ? option.proxies : option
  return typeof proxies === 'number' || typeof proxies === 'function'
}
