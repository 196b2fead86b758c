import { addressKey, type Charge, SluiceError } from '@sluice/core'
import {
  AddressRanges,
  isAddressLike,
  parseAddress,
  parseCidr,
  readKey,
} from '@sluice/core/internal'

/** A client that a list names, by its address or by a key. */
export interface Listed {
  readonly source: 'allow' | 'deny'
  readonly key: string
}

/**
 * The clients that are never limited, and those that are always refused. `deny` wins.
 *
 * @throws SluiceError if one of them is not a list of text
 */
export function readAccess(allow: unknown, deny: unknown, ipv6Prefix: number) {
  const denied = readList('deny', deny)
  const lists = [denied, readList('allow', allow)]
  return {
    /** Whether `deny` names anybody. */
    denies: (deny as unknown[]).length > 0,
    /** Whether it names anybody by a key. */
    deniesKeys: denied.keys.size > 0,
    /** Whether one of the lists names addresses. */
    hasRanges: lists.some(({ ranges }) => ranges),
    /** @param text the client's address, in any spelling; undefined: the client has none */
    ofAddress(text: string | undefined): Listed | undefined {
      const address = parseAddress(text ?? '')
      const list = address && lists.find(({ ranges }) => ranges?.endOf(address) === Infinity)
      return list && { source: list.source, key: addressKey(text, ipv6Prefix) as string }
    },
    ofKeys(charges: readonly Charge[]): Listed | undefined {
      for (const { source, keys } of lists)
        for (const { key } of charges) if (keys.has(key)) return { source, key }
      return undefined
    },
  }
}

/**
 * Reads a list of addresses, CIDRs (IPv4 and IPv6) and keys. An entry that can be read as an address
 * or a CIDR is one; `user:42` is a user; any other is what a key function returns, with or without
 * `key:` before it.
 *
 * @throws SluiceError if it is not a list of text
 */
function readList(source: Listed['source'], entries: unknown) {
  if (!Array.isArray(entries) || !entries.every((each) => typeof each === 'string' && each)) {
    throw new SluiceError({
      code: 'SLUICE_OPTION_TYPE',
      option: source,
      expected: 'an array of addresses, CIDRs and keys, as text',
      received: entries,
      fix: `Write ${source}: ['203.0.113.7', '2001:db8::/32', 'user:42'].`,
    })
  }
  let ranges: AddressRanges | undefined
  const keys = new Set<string>()
  for (const entry of entries as string[]) {
    const range = parseCidr(entry)
    if (range !== undefined) {
      ranges ??= new AddressRanges()
      ranges.add(range)
    } else if (isAddressLike(entry)) {
      throw new SluiceError({
        code: 'SLUICE_CIDR',
        option: source,
        expected: 'an address or a range such as 10.0.0.0/8 or 2001:db8::/32',
        received: entry,
        fix: 'Correct the address and the prefix: 1 to 32 bits for IPv4, 1 to 128 for IPv6.',
      })
    } else keys.add(readKey(entry, 128))
  }
  return { source, ranges, keys }
}
