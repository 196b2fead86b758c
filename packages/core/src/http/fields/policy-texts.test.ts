import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { parseList } from 'structured-headers'
import type { PolicyDecision } from '../../limiter/decision.ts'
import { type PlainOptions, servePlain } from '../../testing/plain-server.ts'
import type { RateLimitOptions } from '../rate-limit-options.ts'
import type { PolicyText } from './policy-text.ts'
import { PolicyTexts } from './policy-texts.ts'

const SECRET = 'a secret of more than sixteen characters'
const policy = { name: 'burst', unit: 'requests', limit: 5, windowMs: 60_000 } as PolicyDecision
const textOf = (secret: string | undefined, key: string) =>
  new PolicyTexts(secret).of([{ ...policy, key }])[0] as PolicyText

function keyIn(partition: string): string {
  return Buffer.from(/^;pk=:(.+):$/.exec(partition)?.[1] as string, 'base64').toString('hex')
}

test('by default there is no partition key, and the text of a policy is made once', () => {
  const texts = new PolicyTexts(undefined)
  const made = texts.of([{ ...policy, key: 'ada' }])
  expect(made[0]).toMatchObject({ namedPolicy: '"burst";q=5;w=60', partition: '' })
  expect(texts.of([{ ...policy, key: 'bob' }])).toBe(made)
})

test('a limit or a window that differs by request has its own text, which is made once too', () => {
  const texts = new PolicyTexts(undefined)
  const namedOf = (differs: Partial<PolicyDecision>) =>
    texts.of([{ ...policy, ...differs }])[0]?.namedPolicy
  for (let i = 0; i < 2; i += 1) {
    expect(namedOf({})).toBe('"burst";q=5;w=60')
    expect(namedOf({ limit: 6 })).toBe('"burst";q=6;w=60')
    expect(namedOf({ windowMs: 1000 })).toBe('"burst";q=5;w=1')
  }
  const [once] = texts.of([policy])
  for (let limit = 6; limit < 100; limit += 1) texts.of([{ ...policy, limit }])
  expect(texts.of([policy])[0]).toBe(once)
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
