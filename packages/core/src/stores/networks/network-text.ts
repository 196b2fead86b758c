import { SluiceError } from '../../errors/sluice-error.ts'
import { type Cidr, cidrText, MAPPED_BITS, parseCidr } from '../../key/cidr.ts'
import { isIPv4 } from '../../key/ip.ts'
import { linesOf, writeDocument } from '../documents/document.ts'

/** The most networks that are blocked at the same time, under one prefix. */
export const MAX_NETWORKS = 10_000

/** The shortest prefixes that can be blocked, bits: a shorter one is taken for a mistake. That of IPv4 is of its mapped form. */
const SHORTEST = { ipv4: MAPPED_BITS + 8, ipv6: 16 }

/** The networks that are blocked, by their text, with the end of each block: ms on the store's clock. */
export type BlockedNetworks = Map<string, number>

/**
 * A network to block: `203.0.113.0/24`, `2001:db8::/32`, or a single address.
 *
 * @throws SluiceError if it is none, or so large that it must be a mistake
 */
export function checkNetwork(text: unknown): Cidr {
  const cidr = typeof text === 'string' ? parseCidr(text) : undefined
  const shortest = cidr && (isIPv4(cidr.network) ? SHORTEST.ipv4 : SHORTEST.ipv6)
  if (cidr !== undefined && cidr.prefix >= (shortest as number)) return cidr
  throw new SluiceError({
    code: 'SLUICE_CIDR',
    option: 'key',
    expected:
      'a network such as 203.0.113.0/24 or 2001:db8::/32, of at least 8 bits for IPv4 and 16 for IPv6',
    received: text,
    fix: 'Correct the address and the prefix. To refuse a larger network, use the option deny.',
  })
}

/** @param given a network, or a list of networks. @throws SluiceError as {@link checkNetwork} does */
export function checkNetworks(given: unknown): readonly Cidr[] {
  return Array.isArray(given) ? given.map(checkNetwork) : [checkNetwork(given)]
}

/**
 * Reads what {@link writeNetworks} wrote. Blocks that have ended, and lines that are none, are left out.
 *
 * @param now ms, on the store's clock
 */
export function readNetworks(text: string, now: number): BlockedNetworks {
  const networks: BlockedNetworks = new Map()
  for (const line of linesOf(text)) {
    const [network = '', end] = line.split(' ')
    if (Number(end) > now && networks.size < MAX_NETWORKS) networks.set(network, Number(end))
  }
  return networks
}

/** The networks as text, with a version that no other text has. '' if there are none. */
export function writeNetworks(networks: BlockedNetworks): string {
  return writeDocument([...networks].map(([network, end]) => `${network} ${end}`))
}

/**
 * Blocks networks until `end`, ms on the store's clock. An earlier block of the same network ends.
 *
 * @returns whether anything has changed
 * @throws SluiceError if there are too many
 */
export function addNetworks(
  blocked: BlockedNetworks,
  networks: readonly Cidr[],
  end: number,
): boolean {
  for (const network of networks) blocked.set(cidrText(network), end)
  if (blocked.size <= MAX_NETWORKS) return networks.length > 0
  throw new SluiceError({
    code: 'SLUICE_NETWORKS_FULL',
    option: 'key',
    expected: `at most ${MAX_NETWORKS} blocked networks`,
    said: `${blocked.size} with those that are blocked`,
    fix: 'End the blocks that are no longer needed, or block larger networks in place of many small ones.',
  })
}
