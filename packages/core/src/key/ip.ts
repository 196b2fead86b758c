/**
 * An IP address of either family: eight 16-bit groups in network order. IPv4 is in its mapped
 * form, ::ffff:0:0/96, whatever way it was written.
 */
export type IpAddress = Uint16Array

const COLON = 0x3a
const DOT = 0x2e

/**
 * Reads an address as RFC 4291 §2.2 and strict dotted quads write it, nothing around it, into
 * `out`. IPv4 that is embedded by ::ffff:0:0/96 or by the NAT64 prefix 64:ff9b::/96 becomes that
 * IPv4 address, decided by the bits and not by the notation.
 *
 * @returns Whether `text` is an address; if not, `out` holds no defined value.
 */
export function readAddress(text: string, out: IpAddress): boolean {
  if (readQuad(text, 0, out)) {
    setMapped(out)
    return true
  }
  if (!readGroups(text, out)) return false
  if (isNat64(out)) setMapped(out)
  return true
}

/** Whether the address is IPv4, which {@link readAddress} leaves in the mapped form. */
export function isIPv4(address: IpAddress): boolean {
  return address[5] === 0xffff && isZero(address, 0, 5)
}

/**
 * Replaces an address that a tunnel gives to an IPv4 host by the host's address: 6to4 (2002::/16, RFC 3056 §2)
 * and Teredo (2001::/32, RFC 4380 §4, where its bits are inverted). The host chooses the others.
 *
 * @returns Whether it is one.
 */
export function setTunnelled(address: IpAddress): boolean {
  const isTeredo = address[0] === 0x2001 && address[1] === 0
  if (!isTeredo && address[0] !== 0x2002) return false
  const inverted = isTeredo ? 0xffff : 0
  const start = isTeredo ? 6 : 1
  address[6] = address[start]! ^ inverted
  address[7] = address[start + 1]! ^ inverted
  setMapped(address)
  return true
}

/**
 * Reads four decimal numbers from `start` to the end of the text into the last two groups. No
 * leading zeros and no fewer than four: other forms mean different addresses to different parsers.
 */
export function readQuad(text: string, start: number, out: IpAddress): boolean {
  const end = text.length
  if (end - start < 7 || end - start > 15) return false
  let octets = 0
  let digits = 0
  let value = 0
  let high = 0
  for (let i = start; i <= end; i++) {
    const code = i === end ? DOT : text.charCodeAt(i)
    if (code === DOT) {
      if (digits === 0 || ++octets > 4) return false
      if ((octets & 1) === 1) high = value << 8
      else out[5 + (octets >> 1)] = high | value
      digits = 0
      value = 0
    } else {
      const digit = code - 0x30
      if (digit < 0 || digit > 9 || (digits > 0 && value === 0)) return false
      value = value * 10 + digit
      digits++
      if (value > 255) return false
    }
  }
  return octets === 4
}

/** Reads the IPv6 forms: hexadecimal groups, one `::` at most, perhaps a dotted quad at the end. */
function readGroups(text: string, out: IpAddress): boolean {
  const end = text.length
  let count = 0
  let gap = -1
  let i = 0
  if (text.charCodeAt(0) === COLON && text.charCodeAt(1) === COLON) {
    gap = 0
    i = 2
  }
  while (i < end && count < 8) {
    const start = i
    let value = 0
    for (let digit = hexDigit(text, i); digit >= 0; digit = hexDigit(text, ++i)) {
      value = value * 16 + digit
    }
    if (i === start || i - start > 4) return false
    if (text.charCodeAt(i) === DOT) {
      if (!readQuad(text, start, out)) return false
      out.copyWithin(count, 6, 8)
      count += 2
      i = end
      break
    }
    out[count++] = value
    if (i === end) break
    if (text.charCodeAt(i) !== COLON || ++i === end) return false
    if (text.charCodeAt(i) === COLON) {
      if (gap >= 0) return false
      gap = count
      i++
    }
  }
  if (i < end) return false
  return gap < 0 ? count === 8 : fillGap(out, gap, count)
}

/** Moves the groups after `::` to the end. It replaces at least one group (RFC 4291 §2.2). */
function fillGap(out: IpAddress, gap: number, count: number): boolean {
  if (count > 7) return false
  const resume = 8 - (count - gap)
  out.copyWithin(resume, gap, count)
  out.fill(0, gap, resume)
  return true
}

/** -1 for anything but a hexadecimal digit, including the end of the text. */
function hexDigit(text: string, index: number): number {
  const code = text.charCodeAt(index)
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/**
 * 64:ff9b::/96 (RFC 6052) is how an IPv6-only host sees IPv4 clients through a translator: all of
 * IPv4 is in that one /96, so a prefix of the IPv6 form would put every such client in one key.
 */
function isNat64(address: IpAddress): boolean {
  return address[0] === 0x64 && address[1] === 0xff9b && isZero(address, 2, 6)
}

function setMapped(out: IpAddress): void {
  out.fill(0, 0, 5)
  out[5] = 0xffff
}

function isZero(address: IpAddress, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (address[i] !== 0) return false
  return true
}

/** The dotted quad of an IPv4 address in the mapped form. */
export function quadText(address: IpAddress): string {
  const high = address[6]!
  const low = address[7]!
  return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`
}

/** RFC 5952 §4: lower case, no leading zeros, `::` for the first of the longest runs of zeros. */
export function groupsText(address: IpAddress): string {
  let runStart = -1
  let runLength = 1
  let zeros = 0
  for (let i = 0; i < 8; i++) {
    zeros = address[i] === 0 ? zeros + 1 : 0
    if (zeros > runLength) {
      runStart = i + 1 - zeros
      runLength = zeros
    }
  }
  let text = ''
  for (let i = 0; i < 8; i++) {
    if (i === runStart) {
      text += '::'
      i += runLength - 1
    } else {
      if (i > 0 && i !== runStart + runLength) text += ':'
      text += address[i]!.toString(16)
    }
  }
  return text
}
