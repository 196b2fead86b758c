import { BlockList, isIPv4 } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parseAddress } from './address.ts'
import { AddressRanges } from './address-ranges.ts'
import { type Cidr, cidrText, isAddressLike, parseCidr } from './cidr.ts'

function matches(cidr: Cidr, address: Uint16Array): boolean {
  const ranges = new AddressRanges()
  ranges.add(cidr)
  return ranges.endOf(address) === Infinity
}

function isIn(range: string, raw: string): boolean {
  const cidr = parseCidr(range)
  const address = parseAddress(raw)
  if (cidr === undefined || address === undefined) throw new Error(`${range} or ${raw} is invalid`)
  return matches(cidr, address)
}

describe('what a range is', () => {
  test.each([
    '::ffff:10.0.0.0/8',
    '::ffff:10.0.0.0/96',
    '::ffff:a00:0/95',
    '64:ff9b::/96',
    '64:ff9b::10.0.0.0/64',
    '64:ff9b::/32',
    '10.0.0.0/33',
    '10.0.0.0/104',
    '2001:db8::/129',
    '::ffff:10.0.0.0/129',
    '10.0.0.0/0',
    '::/0',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/+8',
    '10.0.0.0/8.0',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.0.0',
    '10.0.0.0/99999999999999999999',
    '10.0.0/8',
    '010.0.0.0/8',
    '/8',
    '',
    ' 10.0.0.0/8',
    '[::1]',
    'fe80::1%eth0',
    'loopback',
  ])('%j is none', (text) => {
    expect(parseCidr(text)).toBeUndefined()
  })

  test('::ffff:10.0.0.0/104 is 10.0.0.0/8, and so is the NAT64 form', () => {
    expect(parseCidr('::ffff:10.0.0.0/104')).toEqual(parseCidr('10.0.0.0/8'))
    expect(parseCidr('::ffff:a00:0/104')).toEqual(parseCidr('10.0.0.0/8'))
    expect(parseCidr('64:ff9b::10.0.0.0/104')).toEqual(parseCidr('10.0.0.0/8'))
  })

  test('an address alone is a range of one', () => {
    expect(parseCidr('10.0.0.1')).toEqual(parseCidr('10.0.0.1/32'))
    expect(parseCidr('2001:db8::1')).toEqual(parseCidr('2001:db8::1/128'))
  })
})

describe('what is in a range', () => {
  test.each([
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', '::ffff:a01:203', true],
    ['10.0.0.0/8', '64:ff9b::10.1.2.3', true],
    ['10.0.0.0/8', '[::ffff:10.1.2.3]:443', true],
    ['10.1.2.3/8', '10.200.0.1', true],
    ['192.168.128.0/17', '192.168.127.255', false],
    ['192.168.128.0/17', '192.168.128.0', true],
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.6', false],
    ['128.0.0.0/1', '255.0.0.1', true],
    ['128.0.0.0/1', '127.0.0.1', false],
    ['2001:db8::/32', '2001:DB8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::', false],
    ['8000::/1', 'ffff::', true],
    ['::/8', '::1', true],
    ['::/8', '10.0.0.1', false],
    ['::/95', '::ffff:10.0.0.1', false],
    ['::1', '::1', true],
    ['fe80::1', 'fe80::1%eth0', true],
  ])('%s, %s: %j', (range, raw, expected) => {
    expect(isIn(range, raw)).toBe(expected)
  })

  test('is what Node’s BlockList says', () => {
    const v4 = fc.tuple(fc.ipV4(), fc.integer({ min: 1, max: 32 }))
    const v6 = fc.tuple(fc.ipV6(), fc.integer({ min: 1, max: 128 }))
    fc.assert(
      fc.property(fc.oneof(v4, v6), fc.nat({ max: 127 }), ([network, prefix], flipped) => {
        const cidr = parseCidr(`${network}/${prefix}`)
        const address = parseAddress(network)
        fc.pre(cidr !== undefined && address !== undefined)
        const bit = isIPv4(network) ? 96 + (flipped & 31) : flipped
        address[bit >> 4]! ^= 0x8000 >> (bit & 15)
        const text = isIPv4(network) ? dotted(address) : [...address].map(hex).join(':')
        const family = isIPv4(network) ? 'ipv4' : 'ipv6'
        const node = new BlockList()
        node.addSubnet(network, prefix, family)
        expect(matches(cidr, address)).toBe(node.check(text, family))
      }),
      { numRuns: 2000 },
    )
  })
})

const hex = (group: number) => group.toString(16)

function dotted(address: Uint16Array): string {
  return [...address.slice(6)].flatMap((group) => [group >> 8, group & 0xff]).join('.')
}

describe('the text of a range', () => {
  test.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['203.0.113.7', '203.0.113.7/32'],
    ['::ffff:203.0.113.7/120', '203.0.113.0/24'],
    ['64:ff9b::203.0.113.7/120', '203.0.113.0/24'],
    ['2001:DB8:0:0::1/32', '2001:db8::/32'],
    ['2001:db8:1:2ff::/57', '2001:db8:1:280::/57'],
    ['2001:db8::1', '2001:db8::1/128'],
  ])('of %s is %s', (written, text) => {
    const cidr = parseCidr(written) as Cidr
    expect(cidrText(cidr)).toBe(text)
    expect(cidrText(parseCidr(text) as Cidr)).toBe(text)
  })
})

describe('many ranges', () => {
  const at = (text: string) => parseAddress(text) as Uint16Array
  const ranges = new AddressRanges()
  for (const [text, end] of [
    ['203.0.0.0/16', 5],
    ['203.0.113.0/24', 9],
    ['203.0.113.7', 1],
    ['2001:db8::/32', 7],
  ] as const)
    ranges.add(parseCidr(text) as Cidr, end)

  test('an address ends with the longest-lasting range around it, whichever is the longer prefix', () => {
    expect(ranges.endOf(at('203.0.113.7'))).toBe(9)
    expect(ranges.endOf(at('203.0.1.1'))).toBe(5)
    expect(ranges.endOf(at('203.1.0.0'))).toBe(-Infinity)
  })

  test('only a range that holds all of a network ends it', () => {
    expect(ranges.endOf(at('203.0.113.0'), 96 + 20)).toBe(5)
    expect(ranges.endOf(at('2001:db8:1::'), 56)).toBe(7)
    expect(ranges.endOf(at('2001::'), 16)).toBe(-Infinity)
  })

  test('the last end of a range counts', () => {
    const again = new AddressRanges()
    const range = parseCidr('10.0.0.0/8') as Cidr
    again.add(range, 9)
    again.add(range, 3)
    expect(again.endOf(at('10.0.0.1'))).toBe(3)
  })
})

describe('what looks like an address', () => {
  const longest = '[fe80::ffff:ffff:ffff:255.255.255.255%enp0s31f6]/128'
  test.each([
    '10.0.0.0.0/8',
    '10.0.0/8',
    '2001:db8:/32',
    'fe80::1%',
    '[::1',
    longest,
    ` ${longest} `,
  ])('%s', (text) => expect(isAddressLike(text)).toBe(true))

  test.each([
    'acme/8',
    '10.0',
    `${':'.repeat(200)}/8`,
    `${'1'.repeat(200)}/8`,
    `${':'.repeat(200)}/x`,
  ])('not %s', (text) => expect(isAddressLike(text)).toBe(false))
})
