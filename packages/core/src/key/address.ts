import type { IpAddress } from './ip.ts'
import { groupsText, isIPv4, quadText, readAddress, readQuad, setTunnelled } from './ip.ts'

/**
 * The most characters of an address with port, brackets and zone id. Frameworks pass on header values of any
 * length.
 */
const MAX_RAW_LENGTH = 64

/** Home networks commonly have a /56, so a longer prefix leaves a client keys to change between. */
const DEFAULT_IPV6_PREFIX = 56

/** How a dual-stack listener of Node names every IPv4 client. */
const MAPPED = '::ffff:'

/** Read and written within one synchronous call, so that a key costs no array. */
const scratch: IpAddress = new Uint16Array(8)

/**
 * The key of a client's address, however it is written: IPv4 as a dotted quad (`203.0.113.7`), IPv6
 * as its network in the form of RFC 5952 (`2001:db8:1:200::/56`). At most 43 characters. A 6to4 or
 * Teredo address, of which one IPv4 host has many, has the key of that host.
 *
 * @param raw text for {@link parseAddress}
 * @param ipv6Prefix 32 to 128: IPv6 addresses that share so many bits share a key.
 * @returns `undefined` if it is no address. Never make a key of the raw text instead: a client that
 *   chooses it would choose a new one for each request.
 */
export function addressKey(
  raw: string | undefined,
  ipv6Prefix = DEFAULT_IPV6_PREFIX,
): string | undefined {
  if (raw === undefined) return undefined
  if (readQuad(raw, 0, scratch)) return raw
  if (raw.startsWith(MAPPED) && readQuad(raw, MAPPED.length, scratch)) {
    return raw.slice(MAPPED.length)
  }
  const text = bareAddress(raw)
  if (text === undefined || !readAddress(text, scratch)) return undefined
  // Before the prefix: all of IPv4 is in one /96, so masking it would give all clients one key.
  if (isIPv4(scratch) || setTunnelled(scratch)) return quadText(scratch)
  keepPrefix(scratch, ipv6Prefix)
  return `${groupsText(scratch)}/${ipv6Prefix}`
}

/**
 * Reads a client's address as proxies and frameworks write it: with a port (`203.0.113.7:4711`,
 * `[2001:db8::1]:443`), brackets, double quotes, a zone id (`fe80::1%eth0`), SP or TAB around it.
 *
 * @returns `undefined` for anything else: more than 64 characters, octal, short and integer forms
 * of IPv4, `unknown` and `_hidden` (RFC 7239 §6).
 */
export function parseAddress(raw: string): IpAddress | undefined {
  const text = bareAddress(raw)
  if (text === undefined) return undefined
  const address = new Uint16Array(8)
  return readAddress(text, address) ? address : undefined
}

function keepPrefix(address: IpAddress, bits: number): void {
  const whole = bits >> 4
  if (whole === 8) return
  address[whole] = address[whole]! & (0xffff << (16 - (bits & 15)))
  address.fill(0, whole + 1)
}

/** Removes port, brackets, quotes and zone id; the rest may still be no address. */
function bareAddress(raw: string): string | undefined {
  if (raw.length > MAX_RAW_LENGTH) return undefined
  const text = unquoted(trimmed(raw))
  if (text === undefined) return undefined
  if (text.startsWith('[')) {
    const close = text.indexOf(']')
    const rest = text.slice(close + 1)
    return close > 0 && (rest === '' || isPort(rest)) ? ipv6Text(text.slice(1, close)) : undefined
  }
  const colon = text.indexOf(':')
  if (colon < 0) return text
  if (text.indexOf(':', colon + 1) >= 0) return ipv6Text(text)
  return isPort(text.slice(colon)) ? text.slice(0, colon) : undefined
}

/** The text without SP and TAB at both ends: String.trim would take line breaks and U+00A0 too. */
function trimmed(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function unquoted(text: string): string | undefined {
  if (!text.startsWith('"')) return text
  return text.length > 1 && text.endsWith('"') ? text.slice(1, -1) : undefined
}

/** The address without its zone id, which means something only on the host that wrote it. */
function ipv6Text(text: string): string | undefined {
  const zone = text.indexOf('%')
  const address = zone < 0 ? text : text.slice(0, zone)
  return address.includes(':') ? address : undefined
}

/** A colon and 1 to 5 digits (RFC 7239 §6.2). */
function isPort(text: string): boolean {
  return /^:\d{1,5}$/.test(text)
}
