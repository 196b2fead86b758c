import type { IpAddress } from './ip.ts'
import { groupsText, isIPv4, quadText, readAddress } from './ip.ts'

/** A range of addresses of one family. */
export interface Cidr {
  readonly network: IpAddress
  /** Leading bits that count, 1 to 128; for IPv4 those of the mapped form, 97 to 128. */
  readonly prefix: number
}

/** The bits that precede the IPv4 address in its mapped form. */
export const MAPPED_BITS = 96

/**
 * Reads `10.0.0.0/8`, `2001:db8::/32` or a single address. Bits beyond the prefix are ignored.
 * IPv4 in IPv6 notation (mapped, or NAT64) counts as IPv4: `::ffff:10.0.0.0/104` is `10.0.0.0/8`.
 *
 * @returns `undefined` if it is none. That includes `/0`, which is everybody, in whatever notation,
 * and `::ffff:10.0.0.0/8`, which means 10.0.0.0/8 to the writer and all of IPv4 by its bits
 * (CVE-2026-90711).
 */
export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/')
  const network = new Uint16Array(8)
  if (!readAddress(slash < 0 ? text : text.slice(0, slash), network)) return undefined
  if (slash < 0) return { network, prefix: 128 }
  const bits = prefixLength(text.slice(slash + 1))
  if (bits === undefined) return undefined
  const prefix = text.includes(':') ? bits : bits + MAPPED_BITS
  if (prefix > 128 || (isIPv4(network) && prefix <= MAPPED_BITS)) return undefined
  return { network, prefix }
}

/**
 * Whether text begins like an IPv4 address, or like hexadecimal groups with `::` or a prefix length. A mistake
 * in an address must not become a key that no client has.
 */
export function isAddressLike(text: string): boolean {
  const trimmed = text.trim()
  return trimmed.length <= LONGEST && ADDRESS_LIKE.some((pattern) => pattern.test(trimmed))
}

/**
 * The longest text that can be a mistake in an address, characters: of the longest address, 45, in brackets, with
 * a zone and a prefix length. The patterns take time with the square of the length.
 */
const LONGEST = 100

const ADDRESS_LIKE = [
  /^(\d+\.){3}/,
  /^[\d.]+\/\d*$/,
  /^[\da-f.:]*:[\da-f.:]*\/\d*$/i,
  /^\[?[\da-f.:]*::[\da-f.:]*(%|\]|$)/i,
]

/** The range as `203.0.113.0/24` or `2001:db8::/32`, without the bits beyond the prefix: one text for each range. */
export function cidrText({ network, prefix }: Cidr): string {
  const masked = network.map((group, i) => group & maskOf(prefix, i))
  return isIPv4(network)
    ? `${quadText(masked)}/${prefix - MAPPED_BITS}`
    : `${groupsText(masked)}/${prefix}`
}

/** The bits of a group that are within a prefix. @param i the index of the group, 0 to 7 */
export function maskOf(prefix: number, i: number): number {
  const bits = Math.min(16, Math.max(0, prefix - 16 * i))
  return (0xffff << (16 - bits)) & 0xffff
}

/** 1 to 128 in decimal without leading zeros. */
function prefixLength(text: string): number | undefined {
  const bits = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0
  return bits >= 1 && bits <= 128 ? bits : undefined
}
