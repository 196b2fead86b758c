import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, jest, test } from '@jest/globals'
import { addressKey } from '@sluice/core'
import fc from 'fast-check'
import proxyaddr from 'proxy-addr'
import type { ProxyTrust } from '../request-adapter.ts'
import { plain } from '../testing/plain-server.ts'
import { addressReader } from './key-reader.ts'
import type { TrustProxyOption } from './trust-proxy.ts'

const warnings: string[] = []
jest.spyOn(process, 'emitWarning').mockImplementation(((_: string, { code }: { code: string }) => {
  warnings.push(code)
}) as typeof process.emitWarning)

function message(forwarded: string | undefined, remoteAddress: string | undefined) {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return { headers, socket: { remoteAddress } } as unknown as IncomingMessage
}

/** The key of a request that comes from `peer`. */
function keyOf(trust: unknown, forwarded: string | undefined, peer: string | undefined) {
  const read = addressReader(trust as TrustProxyOption, plain)
  return addressKey(read(message(forwarded, peer)))
}

const NAMED = 'loopback, 10.0.0.0/8'

describe('the measured outputs, with validation', () => {
  const home = '127.0.0.1'
  const client = '203.0.113.7'
  test.each<[sent: string | undefined, oneHop: string | undefined, named: string | undefined]>([
    [undefined, home, home],
    ['1.1.1.1, 203.0.113.7', client, client],
    ['1.1.1.1,203.0.113.7,10.0.0.2', '10.0.0.2', client],
    [' , ,203.0.113.7', client, client],
    ['203.0.113.7,', client, client],
    ['203.0.113.7,,10.0.0.2', '10.0.0.2', client],
    ['1.1.1.1,\t203.0.113.7', client, client],
    ['203.0.113.7:4711', client, client],
    ['[2001:db8::1]:443', '2001:db8::/56', '2001:db8::/56'],
    ['unknown', undefined, undefined],
    ['_hidden', undefined, undefined],
    ['"203.0.113.7"', client, client],
    ['fe80::1%eth0', 'fe80::/56', 'fe80::/56'],
    ['127.1', undefined, undefined],
    ['a'.repeat(6000), undefined, undefined],
  ])('%.40j', (sent, oneHop, named) => {
    expect(keyOf(1, sent, home)).toBe(oneHop)
    expect(keyOf(NAMED, sent, home)).toBe(named)
    expect(keyOf(0, sent, home)).toBe(home)
  })
})

describe('which proxies are trusted', () => {
  test.each<[trust: unknown, peer: string, forwarded: string, key: string]>([
    ['loopback', '127.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['loopback', '::1', '203.0.113.7', '203.0.113.7'],
    ['loopback', '::ffff:127.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['linklocal', '169.254.0.9', '203.0.113.7', '203.0.113.7'],
    ['uniquelocal', '192.168.1.1', '203.0.113.7', '203.0.113.7'],
    [['10.0.0.0/8', '2001:db8::/32'], '2001:db8::1', '203.0.113.7', '203.0.113.7'],
    ['::ffff:10.0.0.0/104', '10.1.2.3', '203.0.113.7', '203.0.113.7'],
    [[], '127.0.0.1', '203.0.113.7', '127.0.0.1'],
    [2, '127.0.0.1', '1.1.1.1, 203.0.113.7, 10.0.0.2', '203.0.113.7'],
    [32, '127.0.0.1', '1.1.1.1, 203.0.113.7', '1.1.1.1'],
    [(address: string) => address === '127.0.0.1', '127.0.0.1', '203.0.113.7', '203.0.113.7'],
    [(_: string, hop: number) => hop < 1, '127.0.0.1', '1.1.1.1, 203.0.113.7', '203.0.113.7'],
    // A promise does not count as true.
    [async () => true, '127.0.0.1', '203.0.113.7', '127.0.0.1'],
  ])('%p, from %s with %j: %s', (trust, peer, forwarded, key) => {
    expect(keyOf(trust, forwarded, peer)).toBe(key)
  })

  test.each(['11.0.0.1', '::ffff:11.0.0.1', '2001:db8::1'])(
    'X-Forwarded-For of %s, which is outside the range, is ignored',
    (peer) => {
      expect(keyOf(NAMED, '203.0.113.7', peer)).toBe(addressKey(peer))
    },
  )

  test.each([undefined, 'X-Client-IP', 'forwarded '])(
    'a field %p is none that proxies write',
    (header) => {
      expect(() => keyOf({ proxies: 'loopback', header }, undefined, '127.0.0.1')).toThrow(
        'trustProxy.header',
      )
    },
  )

  describe.each(['CF-Connecting-IP', 'true-client-ip', 'X-Real-IP', 'fly-client-ip'] as const)(
    'the one address in %s',
    (header) => {
      const read = addressReader({ proxies: ['loopback', '10.0.0.0/8'], header }, plain)
      const from = (peer: string, fields: object) =>
        addressKey(read({ ...message('198.51.100.9', peer), headers: fields } as never))
      const name = header.toLowerCase()

      test('is that of the client, from a trusted proxy', () => {
        expect(from('127.0.0.1', { [name]: ' 203.0.113.7 ' })).toBe('203.0.113.7')
        expect(from('::1', { [name]: '2001:db8::1' })).toBe('2001:db8::/56')
      })

      test('is what a client writes, from anybody else', () => {
        expect(from('192.0.2.1', { [name]: '203.0.113.7' })).toBe('192.0.2.1')
      })

      test('is the last one, if a client sent the field too', () => {
        expect(from('127.0.0.1', { [name]: '1.1.1.1, 203.0.113.7' })).toBe('203.0.113.7')
        // No list: what is before an address of a proxy is not the client's.
        expect(from('127.0.0.1', { [name]: '1.1.1.1, 10.0.0.9' })).toBe('10.0.0.9')
      })

      test('is not taken from another field', () => {
        const fields = { 'x-forwarded-for': '1.1.1.1', forwarded: 'for=1.1.1.1' }
        expect(from('127.0.0.1', fields)).toBe('127.0.0.1')
      })
    },
  )

  test('the same entries trust the same proxies as in Express', () => {
    const entries = ['loopback', 'linklocal', 'uniquelocal', '203.0.113.0/25', '2001:db8::/33']
    const quad = fc.oneof(
      fc.ipV4(),
      fc
        .tuple(
          fc.constantFrom('127.', '10.', '169.254.', '172.', '192.168.', '203.0.113.'),
          fc.array(fc.nat(255), { minLength: 4, maxLength: 4 }),
        )
        .map(([start, octets]) => (start + octets.join('.')).split('.').slice(0, 4).join('.')),
    )
    const groups = fc
      .tuple(
        fc.constantFrom('::', '::1', 'fe80::', 'fec0::', 'fc00::', 'fdff::', '2001:db8:7fff::'),
        fc.ipV6(),
      )
      .chain(([one, other]) => fc.constantFrom(one, other))
      // Express reads fc00::1.2.3.4 as another address.
      .filter((each) => !each.includes('.'))
    const mapped = quad.map((each) => `::ffff:${each}`)
    fc.assert(
      fc.property(fc.subarray(entries), fc.oneof(quad, mapped, groups), (trusted, peer) => {
        const isTrusted = keyOf(trusted, '198.51.100.1', peer) === '198.51.100.1'
        expect(isTrusted).toBe(proxyaddr.compile(trusted)(peer, 0))
      }),
      { numRuns: 1000 },
    )
  })

  test('what a client puts before its own address never changes the key', () => {
    const lies = ['', '1.1.1.1', '10.0.0.9', '127.0.0.1', 'x', '"', ' , ', 'a'.repeat(9000), '::1']
    for (const lie of lies) {
      for (const times of [1, 3, 40]) {
        const prefix = `${lie}, `.repeat(times)
        expect(keyOf(NAMED, `${prefix}203.0.113.7, 10.0.0.2`, '127.0.0.1')).toBe('203.0.113.7')
      }
    }
  })

  test.each(['X-Forwarded-For', 'Forwarded'] as const)(
    'of 5000 entries of %s at most 32 are examined',
    (header) => {
      const trust = jest.fn((_address: string, _hop: number) => true)
      const read = addressReader({ proxies: trust, header }, plain)
      const entries = Array.from({ length: 5000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`)
      const field = entries.map((each) => (header === 'Forwarded' ? `for=${each}` : each)).join(',')
      const { socket } = message(undefined, '127.0.0.1')
      const request = { headers: { [header.toLowerCase()]: field }, socket } as never
      expect(read(request)).toBe(entries.at(-32))
      // The peer, and all entries but the one that it comes to.
      expect(trust).toHaveBeenCalledTimes(32)
    },
  )
})

describe.each<[unknown, string]>([
  [true, 'SLUICE_TRUST_PROXY'],
  [false, 'SLUICE_TRUST_PROXY'],
  [null, 'SLUICE_TRUST_PROXY'],
  ['', 'SLUICE_TRUST_PROXY'],
  ['true', 'SLUICE_TRUST_PROXY'],
  ['loopback,', 'SLUICE_TRUST_PROXY'],
  ['proxy.example.com', 'SLUICE_TRUST_PROXY'],
  [-1, 'SLUICE_TRUST_PROXY'],
  [33, 'SLUICE_TRUST_PROXY'],
  [1.5, 'SLUICE_TRUST_PROXY'],
  [Number.NaN, 'SLUICE_TRUST_PROXY'],
  [['loopback', 7], 'SLUICE_TRUST_PROXY'],
  ['::ffff:10.0.0.0/8', 'SLUICE_TRUST_PROXY'],
  ['10.0.0.0/255.0.0.0', 'SLUICE_TRUST_PROXY'],
  ['0.0.0.0/0', 'SLUICE_TRUST_PROXY'],
  ['::/0', 'SLUICE_TRUST_PROXY'],
])('trustProxy: %p', (option, code) => {
  test('is refused, and the message says what to do', () => {
    expect(() => addressReader(option as never, plain)).toThrow(
      expect.objectContaining({
        code,
        option: 'trustProxy',
        fix: expect.stringMatching(/loopback/),
      }),
    )
  })
})

describe('without an address', () => {
  test.each([undefined, '203.0.113.7'])(
    'a socket that is destroyed, X-Forwarded-For: %s',
    (sent) => {
      expect(keyOf(NAMED, sent, undefined)).toBeUndefined()
    },
  )

  test('a Unix socket counts as a hop, and as the address "" for a function', () => {
    const trust = jest.fn((_address: string, hop: number) => hop === 0)
    expect(keyOf(1, '1.1.1.1, 203.0.113.7', undefined)).toBe('203.0.113.7')
    expect(keyOf(trust, '1.1.1.1, 203.0.113.7', undefined)).toBe('203.0.113.7')
    expect(trust.mock.calls[0]).toEqual(['', 0])
  })

  test('over a real Unix socket, and a real connection that is gone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-proxies-'))
    const socketPath = join(folder, 'http.sock')
    const read = (trust: TrustProxyOption) => addressReader(trust, plain)
    const seen: (string | undefined)[] = []
    const server = createServer((incoming, response) => {
      seen.push(read(1)(incoming), read('loopback')(incoming))
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(socketPath, resolve))
    const headers = { 'X-Forwarded-For': '203.0.113.7' }
    await new Promise((resolve) =>
      request({ socketPath, headers, agent: false }, (reply) =>
        reply.resume().on('end', resolve),
      ).end(),
    )
    expect(seen).toEqual(['203.0.113.7', undefined])
    await new Promise((resolve) => server.close(resolve))
    await rm(folder, { recursive: true })
  })

  test('a client that has gone: its address is no longer known', async () => {
    const gone = new Promise<string | undefined>((resolve) => {
      const server = createServer((incoming) => {
        incoming.socket.on('close', () => {
          server.close()
          resolve(addressReader('loopback', plain)(incoming))
        })
      }).listen(0, '127.0.0.1', () => {
        const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
        socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n', () => socket.destroy())
      })
    })
    expect(addressKey(await gone)).toBeUndefined()
  })
})

describe('the setting of the framework', () => {
  function framework(trust: ProxyTrust) {
    const read = addressReader(undefined, {
      ...plain,
      address: () => '192.0.2.9',
      proxyTrust: () => trust,
    })
    return (forwarded?: string) => read(message(forwarded, '127.0.0.1'))
  }

  test.each<[ProxyTrust, string]>([
    ['nobody', 'SLUICE_PROXY_UNTRUSTED'],
    ['everybody', 'SLUICE_PROXY_EVERYBODY'],
    ['hops', 'SLUICE_PROXY_HOPS'],
    ['ignored', 'SLUICE_PROXY_IGNORED'],
  ])('%s causes one warning, when it first matters', (trust, code) => {
    const read = framework(trust)
    warnings.length = 0
    // Health checks, which come from no proxy.
    for (let i = 0; i < 5; i += 1) expect(read()).toBe('192.0.2.9')
    expect(warnings).toEqual([])
    for (let i = 0; i < 3; i += 1) expect(read('203.0.113.7')).toBe('192.0.2.9')
    expect(warnings).toEqual([code])
  })

  test('it is looked at soon when it first matters after many requests', () => {
    const proxyTrust = jest.fn((): ProxyTrust => 'named')
    const read = addressReader(undefined, { ...plain, proxyTrust })
    for (let i = 0; i < 2000; i += 1) read(message(undefined, '127.0.0.1'))
    for (let i = 0; i < 64; i += 1) read(message('203.0.113.7', '127.0.0.1'))
    expect(proxyTrust).toHaveBeenCalledTimes(1)
  })

  test('named proxies cause no warning', () => {
    warnings.length = 0
    framework('named')('203.0.113.7')
    expect(warnings).toEqual([])
  })
})
