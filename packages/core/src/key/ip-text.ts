import type { IpAddress } from './ip.ts'

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
