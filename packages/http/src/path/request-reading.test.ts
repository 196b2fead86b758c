import type { IncomingMessage } from 'node:http'
import { describe, expect, jest, test } from '@jest/globals'
import type { Limiter } from '@sluice/core'
import { Policy } from '@sluice/core/store'
import { AddressedRequest } from '../keys/key-reader.ts'
import type { ChargeRule } from '../options/compile-options.ts'
import type { RateLimitOptions } from '../options/options.generated.ts'
import { plain, servePlain } from '../testing/plain-server.ts'
import { HttpLimiter } from './http-limiter.ts'
import { readCharges as readChargesOf } from './request-reading.ts'
import { clientGone } from './respond.ts'

type Rule = ChargeRule<string, never>

const address = () => undefined
const connection = { isGone: () => false }

const readCharges = (rules: Rule[], request: string, firstKey?: string | Promise<string>) =>
  readChargesOf(rules, new AddressedRequest(request, address, connection), firstKey)

const later = <T>(value: T) => new Promise<T>((resolve) => setImmediate(resolve, value))

type Varying = (request: string, key: string) => unknown

/** How a policy reads its charge, as its options say. */
interface Terms {
  readonly key?: Rule['key']
  readonly cost?: number | Varying
  readonly limit?: Varying
}

function rule({ key = ({ request }) => request, cost = 1, limit }: Terms = {}): Rule {
  const varies = typeof cost === 'function'
  return {
    policies: [new Policy('', { limit: limit ?? 10, window: '1m' })],
    place: 0,
    key,
    keyKind: 'function',
    cost: varies ? undefined : cost,
    varying: [limit, undefined, undefined, varies ? cost : undefined],
    settle: undefined,
    shard: undefined,
  }
}

test('synchronous values are charged synchronously, one charge per policy', () => {
  const rules = [rule(), rule({ cost: 5 }), rule({ cost: () => 0, key: () => 'all' })]
  expect(readCharges(rules, 'ada')).toMatchObject([
    { key: 'ada', cost: 1, limit: { units: 10 } },
    { key: 'ada', cost: 5 },
    { key: 'all', cost: 0 },
  ])
})

test.each<[string, Terms]>([
  ['key', { key: () => later('bob') }],
  ['cost', { cost: () => later(3) }],
  ['limit', { limit: () => later(50) }],
])('an asynchronous %s makes all of them asynchronous, in their order', async (_, base) => {
  const charges = readCharges([rule(base), rule({ cost: 2 })], 'ada')
  expect(charges).toBeInstanceOf(Promise)
  expect((await charges).map(({ cost }) => cost)).toEqual(['cost' in base ? 3 : 1, 2])
  expect((await charges)[0]).toMatchObject({
    key: 'key' in base ? 'bob' : 'ada',
    limit: { units: 'limit' in base ? 50 : 10 },
  })
})

test('the functions of a policy get its key, and run once it is known', async () => {
  const cost = jest.fn(() => 1)
  const rules = [rule({ cost }), rule({ cost, key: () => later('bob') })]
  const charges = readCharges(rules, 'ada')
  expect(cost.mock.calls).toEqual([['ada', 'ada']])
  await charges
  expect(cost.mock.calls).toEqual([
    ['ada', 'ada'],
    ['ada', 'bob'],
  ])
})

test('nothing is read from a request whose key fails', async () => {
  const cost = jest.fn(() => 1)
  const failing = rule({ cost, key: () => Promise.reject(new Error('no session')) })
  await expect(readCharges([failing], 'ada')).rejects.toThrow('no session')
  expect(cost).not.toHaveBeenCalled()
})

test('the first key is not read again where it is known', async () => {
  const key = jest.fn(() => 'never')
  const rules = [rule({ key }), rule({ key: () => 'bob' })]
  expect(readCharges(rules, 'ada', 'eve')).toMatchObject([{ key: 'eve' }, { key: 'bob' }])
  expect(await readCharges([rule({ key })], 'ada', later('eve'))).toMatchObject([{ key: 'eve' }])
  expect(key).not.toHaveBeenCalled()
})

test('tiers: the limit is a function of the request', () => {
  const tiers = rule({ limit: (request) => (request === 'ada' ? 1000 : 10) })
  expect(readCharges([tiers], 'ada')).toMatchObject([{ limit: { units: 1000 } }])
  expect(readCharges([tiers], 'bob')).toMatchObject([{ limit: { units: 10 } }])
})

test.each([-1, 1.5, Number.NaN, '1', undefined, null, Infinity])('%p is no cost', async (cost) => {
  const wrong = expect.objectContaining({ name: 'SluiceError', option: 'cost' })
  expect(() => readCharges([rule({ cost: () => cost })], 'ada')).toThrow(wrong)
  await expect(readCharges([rule({ cost: () => later(cost) })], 'ada')).rejects.toEqual(wrong)
})

test.each([-1, 1.5, '5', undefined])('%p is no limit', (limit) => {
  const wrong = expect.objectContaining({ name: 'SluiceError', option: 'limit' })
  expect(() => readCharges([rule({ limit: () => limit })], 'ada')).toThrow(wrong)
})

test('the first failure is reported; the others do no harm', async () => {
  const fail = (text: string) => {
    throw new Error(text)
  }
  const failLater = async () => fail('later')
  const failing = rule({ limit: failLater, cost: () => fail('now') })
  expect(() => readCharges([failing], 'ada')).toThrow('now')
  const rules = [rule({ cost: failLater }), rule({ cost: () => fail('now') })]
  expect(() => readCharges(rules, 'ada')).toThrow('now')
  const both = [rule({ cost: failLater }), rule({ key: failLater })]
  await expect(readCharges(both, 'ada')).rejects.toThrow('later')
  // Jest fails a test with an unhandled rejection.
  await later(undefined)
})

const message = () => ({ method: 'GET', headers: {}, socket: {} }) as unknown as IncomingMessage
const policies = ['a', 'b', 'c'].map((name) => ({ name, limit: 9, window: '1m' as const }))

test.each<[string, object]>([
  ['one policy', { limit: 9, window: '1m' }],
  ['several policies', { policies }],
  ['one policy and a list', { limit: 9, window: '1m', deny: ['10.0.0.1'] }],
  ['several policies and both lists', { policies, allow: ['10.0.0.1'], deny: ['10.0.0.2'] }],
])('the address is read once per request: %s', async (_, options) => {
  const address = jest.fn(() => '192.0.2.1')
  const httpLimiter = new HttpLimiter(
    options as RateLimitOptions<IncomingMessage, never>,
    {
      ...plain,
      address,
    } as never,
  )
  const [one, other] = [message(), message()]
  for (const each of [one, other]) await httpLimiter.decide(each)
  expect(address.mock.calls).toEqual([[one], [other]])
  httpLimiter.limiter.close()
})

test('the address of a client without one is not read again', () => {
  const address = jest.fn(() => undefined)
  const httpLimiter = new HttpLimiter(
    { policies } as RateLimitOptions<IncomingMessage, never>,
    {
      ...plain,
      address,
    } as never,
  )
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  httpLimiter.decide(message())
  expect(address).toHaveBeenCalledTimes(1)
  httpLimiter.limiter.close()
})

test('a client that allow has by its address, and deny by its key, is refused', async () => {
  const readings = ['192.0.2.1', '192.0.2.2'].map(async (allowed) => {
    const listed = { allow: [allowed], deny: ['ada'], key: () => 'ada', limit: 1, window: '1m' }
    const options = listed as RateLimitOptions<IncomingMessage, never>
    const adapter = { ...plain, address: () => '192.0.2.1' } as never
    const httpLimiter = new HttpLimiter(options, adapter)
    const verdict = await httpLimiter.decide(message())
    httpLimiter.limiter.close()
    return verdict?.decision.source
  })
  expect(await Promise.all(readings)).toEqual(['deny', 'deny'])
})

test('the key of a client that allow has by its address is read only where deny names keys', async () => {
  const key = jest.fn(() => 'ada')
  const listed = { allow: ['192.0.2.1'], deny: ['10.0.0.0/8'], key, limit: 1, window: '1m' }
  const options = listed as RateLimitOptions<IncomingMessage, never>
  const adapter = { ...plain, address: () => '192.0.2.1' } as never
  const httpLimiter = new HttpLimiter(options, adapter)
  const verdict = await httpLimiter.decide(message())
  httpLimiter.limiter.close()
  expect([verdict?.decision.source, key.mock.calls.length]).toEqual(['allow', 0])
})

test.each<[string, (key: () => unknown) => boolean]>([
  ['once', (key) => key() === 'user:1'],
  ['twice', (key) => [key(), key()].length === 3],
])('skip asks for the key %s: its function runs once', async (_, skip) => {
  const key = jest.fn(async () => 'user:1')
  const httpLimiter = new HttpLimiter<IncomingMessage, never>(
    { limit: 9, window: '1m', key, skip: (_, read) => skip(read) && false },
    plain as never,
  )
  await httpLimiter.decide(message())
  expect(key).toHaveBeenCalledTimes(1)
  httpLimiter.limiter.close()
})

test('a key that fails harms nobody where skip does not await it', async () => {
  const httpLimiter = new HttpLimiter<IncomingMessage, never>(
    {
      limit: 9,
      window: '1m',
      key: () => Promise.reject(new Error('no session')),
      skip: (_, read) => read() !== undefined,
    },
    plain as never,
  )
  expect(httpLimiter.decide(message())).toBeUndefined()
  // Jest fails a test with an unhandled rejection.
  await new Promise(setImmediate)
  httpLimiter.limiter.close()
})

test.each([
  ['synchronous', (key: () => unknown) => key() === 'user:1'],
  ['asynchronous', async (key: () => unknown) => (await key()) === 'user:1'],
])('a client that has gone has no key for skip, and is not charged: %s', async (_, asks) => {
  const gone = { method: 'GET', headers: {}, socket: { destroyed: true } }
  const httpLimiter = new HttpLimiter<IncomingMessage, never>(
    { limit: 1, window: '1h', skip: (_, key) => asks(key) },
    { ...plain, address: () => undefined } as never,
  )
  expect(await httpLimiter.decide(gone as never)).toBe(clientGone)
  expect(httpLimiter.limiter.peek('unknown')).toMatchObject({ remaining: 1 })
})

describe('with shard', () => {
  type Options = RateLimitOptions<IncomingMessage, never>
  const keysOf = async (options: object, from = message()) => {
    const httpLimiter = new HttpLimiter(
      { limit: 9, window: '1m', ...options } as Options,
      plain as never,
    )
    try {
      const verdict = await httpLimiter.decide(from)
      return (verdict as { charges?: readonly { key: string }[] }).charges?.map(({ key }) => key)
    } finally {
      httpLimiter.limiter.close()
    }
  }

  test.each<[string, unknown, string]>([
    ['text', 'acme', '{acme}key:a'],
    ['a number', 42, '{42}key:a'],
    ['a promise', later('acme'), '{acme}key:a'],
    ['nothing', undefined, 'key:a'],
    ['empty text', '', 'key:a'],
    ['what would end the braces', 'a}key:b', '{%9UnfP-EvTg3Q_yXK-7YxwAmVRGpoSuhOG_ZDKQsRbPA}key:a'],
    [
      'the digest of another one',
      '%9UnfP-EvTg3Q_yXK-7YxwAmVRGpoSuhOG_ZDKQsRbPA',
      '{%Ypk4qMDlIXp1krtUsUGPubRvNu2luydzUAHDrhic8XI}key:a',
    ],
  ])('that returns %s', async (_, returned, expected) => {
    expect(await keysOf({ key: () => 'a', shard: () => returned })).toEqual([expected])
  })

  test('that returns something else has none, and a warning says so, once', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    for (const given of [['acme'], { id: 'acme' }, true])
      expect(await keysOf({ key: () => 'a', shard: () => given })).toEqual(['key:a'])
    const texts = warn.mock.calls.map(([text]) => text as string)
    expect(texts.filter((text) => text.includes('SLUICE_KEY_MISSING'))).toEqual([
      expect.stringMatching(/^The id of a shard was an array .* have no shard\./),
    ])
    warn.mockRestore()
  })

  test('a share of the clients is that which peek sees', async () => {
    for (let i = 0; i < 100; i += 1) {
      const options = {
        key: () => `${i}`,
        shard: () => 'acme',
        limit: 0,
        window: '1m',
        enforce: 0.5,
      }
      const httpLimiter = new HttpLimiter(options as Options, plain as never)
      const verdict = await httpLimiter.decide(message())
      const { allowed } = httpLimiter.limiter.peek(`{acme}key:${i}`) as { allowed: boolean }
      expect(verdict?.decision.allowed).toBe(allowed)
      httpLimiter.limiter.close()
    }
  })

  test('of some policies, or of all of them but those that have another', async () => {
    const own = [
      { name: 'a', limit: 9, window: '1m', key: () => 'a' },
      { name: 'b', limit: 9, window: '1m', key: () => 'b', shard: () => 'other' },
    ]
    expect(await keysOf({ limit: undefined, window: undefined, policies: own })).toEqual([
      'key:a',
      '{other}key:b',
    ])
    const all = { limit: undefined, window: undefined, policies: own, shard: async () => 'acme' }
    expect(await keysOf(all)).toEqual(['{acme}key:a', '{other}key:b'])
  })

  test('lists and functions know the key without it, and it is asked for nobody whom they exempt', async () => {
    const shard = jest.fn(() => 'acme')
    const seen: unknown[] = []
    const limit = (_: unknown, key: string) => seen.push(key)
    const options = {
      key: () => 'a',
      shard,
      limit,
      skip: async (_: unknown, key: () => unknown) => !seen.push(await key()),
    }
    expect(await keysOf({ ...options, allow: ['b'] })).toEqual(['{acme}key:a'])
    expect(seen).toEqual(['key:a', 'key:a'])
    expect(shard).toHaveBeenCalledTimes(1)
    expect(await keysOf({ ...options, deny: ['a'] })).toEqual([])
    expect(shard).toHaveBeenCalledTimes(1)
  })

  test('a shard that fails is the application’s to handle, as a key is', async () => {
    const failing = {
      shard: () => {
        throw new Error('no session')
      },
    }
    await expect(keysOf(failing)).rejects.toThrow('no session')
    await expect(keysOf({ shard: () => Promise.reject(new Error('no session')) })).rejects.toThrow(
      'no session',
    )
  })

  test('calls of the application name the key with its shard', async () => {
    const options = {
      limit: 2,
      window: '1d',
      algorithm: 'token-bucket',
      shard: () => 'acme',
    } as const
    const server = await servePlain([options], (_, response) => response.end())
    const [{ limiter }] = server.httpLimiters as unknown as [{ limiter: Limiter }]
    for (const status of [200, 200, 429]) expect((await server.send()).status).toBe(status)
    const left = (key: string) => limiter.peek(key) as { remaining: number }
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    limiter.reset('127.0.0.1')
    expect(warned).toHaveBeenCalledWith(
      expect.stringContaining('without its shard'),
      expect.anything(),
    )
    expect([left('127.0.0.1').remaining, left('{acme}127.0.0.1').remaining]).toEqual([2, 0])
    limiter.reset('{acme}::ffff:127.0.0.1')
    expect(left('{acme}127.0.0.1').remaining).toBe(2)
    await server.stop()
    limiter.close()
  })
})
