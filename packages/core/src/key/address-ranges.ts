import { type Cidr, MAPPED_BITS, maskOf } from './cidr.ts'
import { type IpAddress, isIPv4 } from './ip.ts'

interface RangesOfLength {
  /** Leading bits that count, as in `Cidr`. */
  readonly prefix: number
  /** The ends of the ranges, by their networks. */
  readonly ends: Map<string, number>
}

/**
 * Ranges of addresses, each of which may end at some time. To find an address takes one look for each
 * length of prefix, however many ranges there are.
 */
export class AddressRanges {
  readonly #lengths: RangesOfLength[] = []

  /** @param end when it ends, ms on any clock. Default: never */
  add({ network, prefix }: Cidr, end = Infinity): void {
    let ranges = this.#lengths.find((each) => each.prefix === prefix)
    if (ranges === undefined) {
      ranges = { prefix, ends: new Map() }
      this.#lengths.push(ranges)
    }
    ranges.ends.set(leading(network, prefix), end)
  }

  /**
   * The latest end of the ranges that hold an address, −Infinity if none does. A range of one family holds
   * no address of the other.
   *
   * @param most only ranges whose prefix has at most so many bits: those that hold all of a network
   */
  endOf(address: IpAddress, most = 128): number {
    const least = isIPv4(address) ? MAPPED_BITS + 1 : 1
    let latest = -Infinity
    for (const { prefix, ends } of this.#lengths) {
      if (prefix < least || prefix > most) continue
      const end = ends.get(leading(address, prefix))
      if (end !== undefined && end > latest) latest = end
    }
    return latest
  }
}

/** The leading bits of an address, as text. */
function leading(address: IpAddress, prefix: number): string {
  const whole = prefix >> 4
  let text = ''
  for (let i = 0; i < whole; i += 1) text += String.fromCharCode(address[i] as number)
  if (whole === 8 || (prefix & 15) === 0) return text
  return text + String.fromCharCode((address[whole] as number) & maskOf(prefix, whole))
}
