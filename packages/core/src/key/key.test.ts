import type { IncomingMessage } from 'node:http'
import { beforeEach, describe, expect, jest, test } from '@jest/globals'
import { plain } from '../testing/plain-server.ts'
import { type KeyOption, keyReader, type UserOption } from './key.ts'

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
  const reader = keyReader(option, userOption, 56, () => address, plain)
  return reader({ user } as unknown as IncomingMessage)
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
    ['ada', '192.0.2.1'],
  ])('%p: %s', (user, key) => {
    expect(keyOf('user', { user, ...HOME })).toBe(key)
  })

  test('a function of its own, now or later', async () => {
    expect(keyOf('user', HOME, () => 'ada')).toBe('user:ada')
    expect(await keyOf('user', HOME, async () => 7)).toBe('user:7')
    expect(await keyOf('user', HOME, async () => undefined)).toBe('192.0.2.1')
  })

  test('no user has the key of an address', () => {
    expect(keyOf('user', { user: { id: '192.0.2.1' }, ...HOME })).not.toBe(keyOf('user', HOME))
  })
})

describe('a function', () => {
  test('gives the key, now or later', async () => {
    expect(keyOf(() => 'tenant-1', HOME)).toBe('tenant-1')
    expect(await keyOf(async () => 'tenant-1', HOME)).toBe('tenant-1')
  })

  test('that gives no text: the address, told once (peers fault 13)', () => {
    for (const nothing of [undefined, null, '', 7, {}]) {
      expect(keyOf(() => nothing as never, HOME)).toBe('address:192.0.2.1')
    }
    expect(warnings.map(({ code }) => code)).toEqual(['SLUICE_KEY_MISSING'])
    expect(warnings[0]?.text).toMatch(/return a key for every request/)
  })

  test('cannot give by chance the key of a client without one', () => {
    expect(keyOf(() => '192.0.2.1', HOME)).not.toBe(keyOf(() => undefined, HOME))
  })

  test('that throws or rejects does so', async () => {
    const fail = () => {
      throw new Error('no')
    }
    expect(() => keyOf(fail, HOME)).toThrow('no')
    await expect(keyOf(async () => fail(), HOME)).rejects.toThrow('no')
  })
})
