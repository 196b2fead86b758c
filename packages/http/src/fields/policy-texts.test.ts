import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import type { PolicyDecision } from '@sluice/core'
import { parseList } from 'structured-headers'
import type { RateLimitOptions } from '../options/options.generated.ts'
import { type PlainOptions, servePlain } from '../testing/plain-server.ts'
import { PolicyTexts } from './field-state.ts'
import { type PolicyText, partitionText, policyText } from './policy-texts.ts'

const MINUTE = { name: 'minute', unit: 'requests', limit: 100, windowMs: 60_000 }

const policy = (terms: Partial<PolicyDecision>, partitionKey?: Uint8Array) =>
  policyText({ ...MINUTE, ...terms }, partitionKey && partitionText(partitionKey))

describe('the text of a policy', () => {
  test('a name is a quoted String with its quotes and backslashes escaped', () => {
    expect(policy({ name: 'a"b\\c' }).namedPolicy).toBe('"a\\"b\\\\c";q=100;w=60')
  })

  test.each([
    [1, 1],
    [1000, 1],
    [1001, 2],
    [Number.MAX_SAFE_INTEGER, 9_007_199_254_741],
  ])('a window of %d ms is %d s', (windowMs, seconds) => {
    expect(policy({ windowMs }).namedPolicy).toBe(`"minute";q=100;w=${seconds}`)
  })

  test('a limit beyond 15 digits, which no Integer has, is shown as the largest', () => {
    const { namedPolicy, quotaPolicy, limit } = policy({ limit: Number.MAX_SAFE_INTEGER })
    expect(namedPolicy).toBe('"minute";q=999999999999999;w=60')
    expect(quotaPolicy).toBe('999999999999999;w=60')
    expect(limit).toBe(Number.MAX_SAFE_INTEGER)
  })

  test('a unit is a String of the registry, and requests is not written', () => {
    expect(policy({ unit: 'requests' }).namedPolicy).toBe('"minute";q=100;w=60')
    expect(policy({ unit: 'content-bytes' }).namedPolicy).toBe(
      '"minute";q=100;qu="content-bytes";w=60',
    )
  })

  test('no partition key unless one is given', () => {
    expect(policy({}).namedPolicy).not.toContain('pk')
    const partitionKey = Uint8Array.of(0xff, 0xfe)
    expect(policy({}, partitionKey).namedPolicy).toBe('"minute";q=100;w=60;pk=://4=:')
  })
})

const SECRET = 'a secret of more than sixteen characters'
const burst = { name: 'burst', unit: 'requests', limit: 5, windowMs: 60_000 } as PolicyDecision
const textOf = (secret: string | undefined, key: string) =>
  new PolicyTexts(secret).of([{ ...burst, key }])[0] as PolicyText

function keyIn(partition: string): string {
  return Buffer.from(/^;pk=:(.+):$/.exec(partition)?.[1] as string, 'base64').toString('hex')
}

test('by default there is no partition key, and the text of a policy is made once', () => {
  const texts = new PolicyTexts(undefined)
  const made = texts.of([{ ...burst, key: 'ada' }])
  expect(made[0]).toMatchObject({ namedPolicy: '"burst";q=5;w=60', partition: '' })
  expect(texts.of([{ ...burst, key: 'bob' }])).toBe(made)
})

test('a limit or a window that differs by request has its own text, which is made once too', () => {
  const texts = new PolicyTexts(undefined)
  const namedOf = (differs: Partial<PolicyDecision>) =>
    texts.of([{ ...burst, ...differs }])[0]?.namedPolicy
  for (let i = 0; i < 2; i += 1) {
    expect(namedOf({})).toBe('"burst";q=5;w=60')
    expect(namedOf({ limit: 6 })).toBe('"burst";q=6;w=60')
    expect(namedOf({ windowMs: 1000 })).toBe('"burst";q=5;w=1')
  }
  const [once] = texts.of([burst])
  for (let limit = 6; limit < 100; limit += 1) texts.of([{ ...burst, limit }])
  expect(texts.of([burst])[0]).toBe(once)
})

describe('with a secret', () => {
  const key = keyIn(textOf(SECRET, '192.0.2.1').partition)

  test('it is an HMAC of the key with the secret, cut short', () => {
    const hmac = createHmac('sha256', SECRET).update('192.0.2.1').digest('hex')
    expect(key).toBe(hmac.slice(0, 18))
  })

  test('it stays the same for a client, and differs by client and by secret', () => {
    expect(keyIn(textOf(SECRET, '192.0.2.1').partition)).toBe(key)
    expect(keyIn(textOf(SECRET, '192.0.2.2').partition)).not.toBe(key)
    expect(keyIn(textOf(`${SECRET}!`, '192.0.2.1').partition)).not.toBe(key)
  })

  test('the address cannot be found by hashing all addresses', () => {
    for (const algorithm of ['sha256', 'sha1', 'sha512', 'md5']) {
      const hash = createHash(algorithm).update('192.0.2.1').digest('hex')
      expect(hash).not.toContain(key.slice(0, 8))
    }
  })

  test('it is equal in both fields on the wire', async () => {
    const options = { limit: 5, window: '1m', partitionSecret: SECRET, headers: 'draft-11' }
    const server = await servePlain([options as PlainOptions], (_, response) => response.end())
    const { headers } = await server.send()
    await server.stop()
    const [policy, usage] = ['ratelimit-policy', 'ratelimit'].map((name) => {
      const [[, parameters]] = parseList(headers[name] as string) as [
        [string, Map<string, ArrayBuffer>],
      ]
      return Buffer.from(parameters.get('pk') as ArrayBuffer).toString('hex')
    })
    expect(policy).toBe(createHmac('sha256', SECRET).update('127.0.0.1').digest('hex').slice(0, 18))
    expect(usage).toBe(policy)
  })
})

describe('a secret that is none', () => {
  type Options = RateLimitOptions<IncomingMessage, ServerResponse>
  const construct = (partitionSecret: unknown) =>
    servePlain([{ limit: 5, window: '1m', partitionSecret } as Options], () => {})

  test.each([
    'hunter2',
    'fifteen letters',
    '',
    987654321,
    null,
    Buffer.from(SECRET),
    { secret: SECRET },
  ])('%p is refused, and the message does not contain it', async (secret) => {
    const error = (await construct(secret).catch((each) => each)) as Error & { option: string }
    expect(error).toMatchObject({ code: 'SLUICE_SECRET', option: 'partitionSecret' })
    const text = `${error.message}${error.stack}${JSON.stringify(error)}`
    if (typeof secret === 'string' && secret !== '') expect(text).not.toContain(secret)
    for (const part of ['hunter2', 'a secret of', '987654321']) expect(text).not.toContain(part)
  })
})
