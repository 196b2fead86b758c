import type { IncomingMessage } from 'node:http'
import { beforeEach, describe, expect, jest, test } from '@jest/globals'
import { plain } from '../testing/plain-server.ts'
import { AddressedRequest, type KeyOption, keyReader, type UserOption } from './key-reader.ts'

const warnings: { code: string; text: string }[] = []
jest.spyOn(process, 'emitWarning').mockImplementation(((text: string, { code }: never) => {
  warnings.push({ code, text })
}) as typeof process.emitWarning)
beforeEach(() => {
  warnings.length = 0
})

interface From {
  readonly user?: unknown
  readonly address?: string | undefined
}

function keyOf(
  option: KeyOption<IncomingMessage>,
  { user, address }: From,
  userOption?: UserOption<IncomingMessage>,
) {
  const reader = keyReader(option, userOption, 56, plain)
  const request = { user } as unknown as IncomingMessage
  return reader(new AddressedRequest(request, () => address, plain))
}

const HOME = { address: '192.0.2.1' }

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2ff::1', '2001:db8:1:200::/56'],
  ['nonsense', 'unknown'],
  [undefined, 'unknown'],
])("key: 'ip', address %s: %s", (address, key) => {
  expect(keyOf('ip', { address })).toBe(key)
})

describe("key: 'user'", () => {
  test.each<[unknown, string]>([
    [{ id: 'ada' }, 'user:ada'],
    [{ id: 42 }, 'user:42'],
    [{ id: 0 }, 'user:0'],
    [{ id: 42n }, 'user:42'],
    [{ sub: 'ada' }, 'user:ada'],
    [{ id: undefined, sub: 'ada' }, 'user:ada'],
    [{ id: '' }, '192.0.2.1'],
    [{ id: Number.NaN }, '192.0.2.1'],
    [{ id: {} }, '192.0.2.1'],
    [{ id: true }, '192.0.2.1'],
    [{}, '192.0.2.1'],
    [null, '192.0.2.1'],
    [undefined, '192.0.2.1'],
    ['ada', 'user:ada'],
    [42, 'user:42'],
    [0, 'user:0'],
    ['', '192.0.2.1'],
    [false, '192.0.2.1'],
  ])('%p: %s', (user, key) => {
    expect(keyOf('user', { user, ...HOME })).toBe(key)
  })

  test('its own function, synchronous or not', async () => {
    expect(keyOf('user', HOME, () => 'ada')).toBe('user:ada')
    expect(await keyOf('user', HOME, async () => 7)).toBe('user:7')
    expect(await keyOf('user', HOME, async () => undefined)).toBe('192.0.2.1')
  })

  test.each<[string, unknown, UserOption<unknown> | undefined, RegExp]>([
    ['an object as the id', { id: {} }, undefined, /id of a user was an object instead of text/],
    ['the whole user', undefined, () => ({ id: 7 }) as never, /id of a user was an object/],
    [
      'a user without an id',
      { userId: 7 },
      undefined,
      /an object .* Return text from the option user\. /,
    ],
    ['a user that is no id', true, undefined, /id of a user was true/],
  ])('%s: a warning says so, once', (_, user, read, text) => {
    // Another copy, which has not warned of it.
    jest.isolateModules(() => {
      const copy = require('./key-reader.ts') as { keyReader: typeof keyReader }
      const reader = copy.keyReader('user', read, 56, plain)
      for (let i = 0; i < 2; i += 1) {
        const request = new AddressedRequest({ user } as never, () => '192.0.2.1', plain)
        expect(reader(request)).toBe('192.0.2.1')
      }
    })
    expect(warnings).toEqual([
      { code: 'SLUICE_KEY_MISSING', text: expect.stringMatching(text) as never },
    ])
  })

  test.each([undefined, null, '', false])('%p is nobody, without a warning', (nobody) => {
    expect(keyOf('user', HOME, () => nobody as never)).toBe('192.0.2.1')
    expect(keyOf('user', { user: { id: nobody ?? null }, ...HOME })).toBe('192.0.2.1')
    expect(warnings).toEqual([])
  })

  test('no user has the key of an address', () => {
    expect(keyOf('user', { user: { id: '192.0.2.1' }, ...HOME })).not.toBe(keyOf('user', HOME))
  })
})

describe('a function', () => {
  test('returns the key, synchronously or not', async () => {
    expect(keyOf(() => 'tenant-1', HOME)).toBe('key:tenant-1')
    expect(await keyOf(async () => 'tenant-1', HOME)).toBe('key:tenant-1')
  })

  test.each([7, 0, 7n])('that returns the number %p gives its text', (number) => {
    expect(keyOf(() => number, HOME)).toBe(`key:${number}`)
  })

  test('that returns no text: the address is used, with one warning', () => {
    const bare = Object.create(null)
    for (const nothing of [bare, undefined, null, '', {}, ['a'], Number.NaN, true, Symbol('a')]) {
      expect(keyOf(() => nothing as never, HOME)).toBe('192.0.2.1')
    }
    expect(warnings.map(({ code }) => code)).toEqual(['SLUICE_KEY_MISSING'])
    expect(warnings[0]?.text).toMatch(/returned an object .* Return a key for every request/)
  })

  test.each(['192.0.2.1', 'user:ada', 'unknown', 'address:192.0.2.1', 'key:x'])(
    'that returns %s gives no key of another kind',
    (text) => {
      expect(keyOf(() => text, HOME)).toBe(`key:${text}`)
    },
  )

  test.each(['::ffff:192.0.2.1', '192.0.2.1', 'a::b::c', 'cafe:1', 'tenant:2001:db8::1'])(
    'that returns %s causes no warning about IPv6',
    (text) => {
      keyOf(() => text, HOME)
      expect(warnings).toEqual([])
    },
  )

  test('that returns an IPv6 address as it is: a warning names ipv6Prefix and addressKey, once', () => {
    for (const text of ['2001:db8::1', '[2001:db8::2]:443']) keyOf(() => text, HOME)
    expect(warnings.map(({ code }) => code)).toEqual(['SLUICE_KEY_IPV6'])
    expect(warnings[0]?.text).toMatch(/\/56 network.*ipv6Prefix.*addressKey\(address\)/)
  })

  test('that throws or rejects does so', async () => {
    const fail = () => {
      throw new Error('no')
    }
    expect(() => keyOf(fail, HOME)).toThrow('no')
    await expect(keyOf(async () => fail(), HOME)).rejects.toThrow('no')
  })
})
