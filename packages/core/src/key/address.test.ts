import { isIP, isIPv4, isIPv6 } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { addressKey, parseAddress } from './address.ts'

const octet = fc.integer({ min: 0, max: 255 })
const quad = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'))
const groups = fc.array(
  fc.oneof(fc.constant(0), fc.constant(0xffff), fc.integer({ min: 0, max: 0xffff })),
  { minLength: 8, maxLength: 8 },
)

const hex = (group: number) => group.toString(16)

/** Ways to write eight groups: plain, padded, upper case, with `::`, with a dotted quad. */
function spellings(all: readonly number[]): string[] {
  const plain = all.map(hex)
  const padded = plain.map((group) => group.padStart(4, '0'))
  const tail = all.slice(6).flatMap((group) => [group >> 8, group & 0xff])
  const texts = [plain.join(':'), padded.join(':').toUpperCase()]
  texts.push(`${plain.slice(0, 6).join(':')}:${tail.join('.')}`)
  for (let from = 0; from < 8; from++) {
    for (let to = from + 1; to <= 8 && all[to - 1] === 0; to++) {
      texts.push(`${plain.slice(0, from).join(':')}::${padded.slice(to).join(':')}`)
    }
  }
  return texts
}

/** An address with everything that a proxy may put around it. */
function surroundings(text: string): string[] {
  const around = [text, ` \t${text}\t `, `"${text}"`]
  if (!text.includes(':')) return [...around, `${text}:4711`, `"${text}:80"`]
  return [...around, `[${text}]`, `[${text}]:443`, `"[${text}]:1"`, `${text}%eth0`, `[${text}%1]:8`]
}

describe('the listed spellings', () => {
  test.each([
    '203.0.113.7',
    '::ffff:203.0.113.7',
    '::ffff:cb00:7107',
    '::FFFF:203.0.113.7',
    '0:0:0:0:0:ffff:cb00:7107',
    '203.0.113.7:4711',
    '[::ffff:203.0.113.7]:80',
    '64:ff9b::203.0.113.7',
    '64:ff9b::cb00:7107',
  ])('%s is 203.0.113.7', (raw) => {
    expect(addressKey(raw)).toBe('203.0.113.7')
  })

  test.each([
    '2001:db8:1:2ff:aaaa::1',
    '2001:DB8:1:200::5',
    '[2001:db8:1:2ab::9]:443',
    '2001:db8:1:2ff::1.2.3.4',
  ])('%s is 2001:db8:1:200::/56', (raw) => {
    expect(addressKey(raw)).toBe('2001:db8:1:200::/56')
  })

  test.each([
    ['fe80::1%eth0', 'fe80::/56'],
    ['::1', '::/56'],
    ['::1.2.3.4', '::/56'],
    ['64:ff9b:1::1.2.3.4', '64:ff9b:1::/56'],
    ['0:1:0:100::', '0:1:0:100::/56'],
  ])('%s is %s', (raw, key) => {
    expect(addressKey(raw)).toBe(key)
  })
})

describe('characters around an address', () => {
  test('makes no difference', () => {
    fc.assert(
      fc.property(quad, (text) => {
        for (const raw of surroundings(text)) expect(addressKey(raw)).toBe(text)
      }),
    )
  })

  test.each([
    '"203.0.113.7',
    '203.0.113.7"',
    '"',
    '""',
    '[203.0.113.7]',
    '[2001:db8::1',
    '2001:db8::1]',
    '[2001:db8::1]443',
    '[2001:db8::1]:',
    '[]',
    '203.0.113.7:',
    '203.0.113.7:123456',
    '203.0.113.7:_x',
    '203.0.113.7%eth0',
    '203.0.113.7%a:b:c',
    ' ',
    '\n203.0.113.7',
    '\u00a0203.0.113.7',
    '203.0.113.7, 203.0.113.8',
    '203.0.113.7/32',
  ])('%j is no address', (raw) => {
    expect(addressKey(raw)).toBeUndefined()
    expect(parseAddress(raw)).toBeUndefined()
  })
})

describe('no address', () => {
  test.each([
    '0177.0.0.1',
    '01.2.3.4',
    '1.2.3.04',
    '00.0.0.0',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '256.0.0.1',
    '1.2.3',
    '1.2.3.4.5',
    '1..2.3',
    '.1.2.3',
    '1.2.3.',
    '1.2.3.4.',
    'unknown',
    '_x',
    '_hidden',
    'undefined',
    '',
    'evil<script>',
    ':::',
    ':',
    '::1::',
    ':1::',
    '1::2:',
    '12345::',
    '::g',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '::1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7:1.2.3.4',
    '::ffff:1.2.3.4:5',
    '::ffff:1.2.3',
    '::ffff:01.2.3.4',
    '1.2.3.4::',
  ])('%j', (raw) => {
    expect(addressKey(raw)).toBeUndefined()
  })

  test('a missing address', () => {
    expect(addressKey(undefined)).toBeUndefined()
  })

  test('more than 64 characters are not read', () => {
    const zone = (length: number) => `fe80::1%${'a'.repeat(length - 'fe80::1%'.length)}`
    expect(addressKey(zone(64))).toBe('fe80::/56')
    expect(addressKey(zone(65))).toBeUndefined()
    expect(addressKey('a'.repeat(6000))).toBeUndefined()
    expect(addressKey(`${' '.repeat(60)}10.0.0.1`)).toBeUndefined()
    expect(addressKey(`::ffff:10.0.0.1${' '.repeat(60)}`)).toBeUndefined()
  })
})

describe('one address, one key', () => {
  test('all spellings of an IPv6 address', () => {
    fc.assert(
      fc.property(groups, fc.integer({ min: 32, max: 128 }), (all, prefix) => {
        const texts = spellings(all).flatMap(surroundings)
        const keys = new Set(texts.map((text) => addressKey(text, prefix)))
        expect(keys.size).toBe(1)
        expect(keys).not.toContain(undefined)
      }),
    )
  })

  test('all spellings of a mapped IPv4 address are the plain one', () => {
    const value = fc.integer({ min: 0, max: 0xffff })
    fc.assert(
      fc.property(value, value, (high, low) => {
        const plain = [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
        const texts = spellings([0, 0, 0, 0, 0, 0xffff, high, low]).flatMap(surroundings)
        expect([...new Set(texts.map((text) => addressKey(text, 32)))]).toEqual([plain])
      }),
    )
  })

  test('a key is the canonical form: itself an address that Node knows, with the same key', () => {
    fc.assert(
      fc.property(groups, fc.integer({ min: 32, max: 128 }), (all, prefix) => {
        const key = addressKey(all.map(hex).join(':'), prefix) ?? ''
        const [network = '', bits] = key.split('/')
        expect(addressKey(network, prefix)).toBe(key)
        expect(key.length).toBeLessThanOrEqual(43)
        if (isIPv4(key)) return
        expect(isIPv6(network)).toBe(true)
        expect(bits).toBe(String(prefix))
        // The WHATWG URL parser writes IPv6 as RFC 5952 does.
        expect(new URL(`http://[${network}]`).hostname).toBe(`[${network}]`)
      }),
    )
  })

  test('what is an address is what Node says', () => {
    const near = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'0123456789abcfF:.'), maxLength: 24 }),
      fc.array(fc.constantFrom('0', '1', 'ffff', '::', ':', '.', '10.0.0.1', 'a:b:c'), {
        maxLength: 12,
      }),
    )
    fc.assert(
      fc.property(near, (text) => {
        const raw = Array.isArray(text) ? text.join('') : text
        // A port is the one addition that these characters can spell.
        if (/^[^:]*:[0-9]+$/.test(raw)) return
        expect(addressKey(raw) !== undefined).toBe(isIP(raw) !== 0 && raw.length <= 64)
      }),
      { numRuns: 5000 },
    )
  })
})

describe('different clients, different keys', () => {
  test('two IPv4 clients of a dual-stack listener (CVE-2026-30827)', () => {
    expect(addressKey('::ffff:198.51.100.1')).not.toBe(addressKey('::ffff:198.51.100.2'))
    expect(addressKey('64:ff9b::198.51.100.1')).not.toBe(addressKey('64:ff9b::198.51.100.2'))
  })

  test('10,000 addresses in one /56 share a key, and the neighbours have another', () => {
    const keys = new Set<string | undefined>()
    for (let i = 0; i < 10_000; i++) {
      const subnet = hex(0x200 + (i & 0xff))
      keys.add(addressKey(`2001:db8:1:${subnet}:${hex(i)}::${hex((i * 7919) & 0xffff)}`))
    }
    expect([...keys]).toEqual(['2001:db8:1:200::/56'])
    expect(addressKey('2001:db8:1:1ff:ffff:ffff:ffff:ffff')).toBe('2001:db8:1:100::/56')
    expect(addressKey('2001:db8:1:300::')).toBe('2001:db8:1:300::/56')
  })

  test.each([
    [32, '2001:db8::/32'],
    [33, '2001:db8:8000::/33'],
    [48, '2001:db8:ffff::/48'],
    [56, '2001:db8:ffff:ff00::/56'],
    [64, '2001:db8:ffff:ffff::/64'],
    [65, '2001:db8:ffff:ffff:8000::/65'],
    [127, '2001:db8:ffff:ffff:ffff:ffff:ffff:fffe/127'],
    [128, '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff/128'],
  ])('a prefix of %d', (prefix, key) => {
    expect(addressKey('2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', prefix)).toBe(key)
  })

  test('6to4 and Teredo: an IPv4 host has one key, whatever it chooses of its addresses', () => {
    const sixToFour = ['2002:c000:204::1', '2002:c000:204:ff00::1', '2002:c000:204:1234:5:6:7:8']
    // Teredo: the server's address, flags, the port and the client's address, inverted.
    const teredo = ['2001:0:c633:6401:0:a1b2:3fff:fdfb', '2001::8000:1111:3fff:fdfb']
    for (const raw of [...sixToFour, ...teredo])
      expect([raw, addressKey(raw)]).toEqual([raw, '192.0.2.4'])
    expect(addressKey('2002:c000:205::1')).toBe('192.0.2.5')
    expect(addressKey('2001::3fff:fdfa', 128)).toBe('192.0.2.5')
    expect(addressKey('2001:1::3fff:fdfa')).toBe('2001:1::/56')
  })

  test('a key does not change what the next one is', () => {
    expect(addressKey('2001:db8::1', 128)).toBe('2001:db8::1/128')
    expect(addressKey('1:2:3:4:5:6:7:8:9', 128)).toBeUndefined()
    expect(addressKey('::', 128)).toBe('::/128')
    expect(addressKey('1.2.3.4')).toBe('1.2.3.4')
    expect(addressKey('::2', 128)).toBe('::2/128')
  })
})
