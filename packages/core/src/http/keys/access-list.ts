import { SluiceError } from '../../errors/sluice-error.ts'
import { addressKey, parseAddress } from '../../key/address.ts'
import { type Cidr, matches, parseCidr } from '../../key/cidr.ts'
import { readKey } from '../../key/notation.ts'
import type { Charge } from '../../stores/store.ts'

/** A client that a list names, by its address or by a key. */
export interface Listed {
  readonly source: 'allow' | 'deny'
  readonly key: string
}

/** The clients that are never limited, and those that are always refused. `deny` wins. */
export class Access {
  private readonly allow: AccessList
  private readonly deny: AccessList
  private readonly ipv6Prefix: number

  /** @throws SluiceError if one of them is not a list of text */
  constructor(allow: unknown, deny: unknown, ipv6Prefix: number) {
    this.allow = new AccessList('allow', allow)
    this.deny = new AccessList('deny', deny)
    this.ipv6Prefix = ipv6Prefix
  }

  get denies(): boolean {
    return !this.deny.isEmpty
  }

  get hasRanges(): boolean {
    return this.deny.hasRanges || this.allow.hasRanges
  }

  /** @param address the client's address as text, in any spelling; undefined: the client has none */
  ofAddress(address: string | undefined): Listed | undefined {
    const isDenied = this.deny.holdsAddress(address)
    if (!isDenied && !this.allow.holdsAddress(address)) return undefined
    const key = addressKey(address, this.ipv6Prefix) as string
    return { source: isDenied ? 'deny' : 'allow', key }
  }

  ofKeys(charges: readonly Charge[]): Listed | undefined {
    const denied = charges.find(({ key }) => this.deny.holdsKey(key))
    if (denied !== undefined) return { source: 'deny', key: denied.key }
    const allowed = charges.find(({ key }) => this.allow.holdsKey(key))
    return allowed && { source: 'allow', key: allowed.key }
  }
}

/**
 * A list of addresses, CIDRs (IPv4 and IPv6) and keys. An entry that can be read as an address
 * or a CIDR is one; `user:42` is a user; any other is what a key function returns, with or without
 * `key:` before it.
 */
class AccessList {
  private readonly ranges: readonly Cidr[]
  private readonly keys: ReadonlySet<string>

  /** @throws SluiceError if it is not a list of text */
  constructor(option: string, entries: unknown) {
    if (!Array.isArray(entries) || !entries.every((each) => typeof each === 'string' && each)) {
      throw new SluiceError({
        code: 'SLUICE_OPTION_TYPE',
        option,
        expected: 'an array of addresses, CIDRs and keys, as text',
        received: entries,
        fix: `Write ${option}: ['203.0.113.7', '2001:db8::/32', 'user:42'].`,
      })
    }
    const ranges: Cidr[] = []
    const keys = new Set<string>()
    for (const entry of entries as string[]) {
      const range = parseCidr(entry)
      if (range !== undefined) ranges.push(range)
      else if (isMeantAsRange(entry.trim())) throw unreadable(option, entry)
      else keys.add(readKey(entry, 128))
    }
    this.ranges = ranges
    this.keys = keys
  }

  get isEmpty(): boolean {
    return !this.hasRanges && this.keys.size === 0
  }

  get hasRanges(): boolean {
    return this.ranges.length > 0
  }

  holdsKey(key: string): boolean {
    return this.keys.has(key)
  }

  /** @param raw the client's address, in any spelling */
  holdsAddress(raw: string | undefined): boolean {
    if (raw === undefined || !this.hasRanges) return false
    const address = parseAddress(raw)
    return address !== undefined && this.ranges.some((range) => matches(range, address))
  }
}

/** Text that begins like an IPv4 address, or hexadecimal groups with `::` or a prefix length. */
const ADDRESS_LIKE = [
  /^(\d+\.){3}/,
  /^[\d.]+\/\d*$/,
  /^[\da-f.:]*:[\da-f.:]*\/\d*$/i,
  /^\[?[\da-f.:]*::[\da-f.:]*(%|\]|$)/i,
]

/** A mistake in an address must not become a key that no client has. */
function isMeantAsRange(entry: string): boolean {
  return ADDRESS_LIKE.some((pattern) => pattern.test(entry))
}

function unreadable(option: string, received: string): SluiceError {
  return new SluiceError({
    code: 'SLUICE_CIDR',
    option,
    expected: 'an address or a range such as 10.0.0.0/8 or 2001:db8::/32',
    received,
    fix: 'Correct the address and the prefix: 1 to 32 bits for IPv4, 1 to 128 for IPv6.',
  })
}
