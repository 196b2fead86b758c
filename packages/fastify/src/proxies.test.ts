import { beforeEach, describe, expect, jest, test } from '@jest/globals'
import fastify, { type FastifyInstance } from 'fastify'
import fastifyWithHops from 'fastify-hops'
import { rateLimit } from './index.ts'
import { listen } from './testing.ts'

const warned: string[] = []
jest.spyOn(process, 'emitWarning').mockImplementation(((message: string, options: object) => {
  const { type, code } = options as { type: string; code: string }
  warned.push(`${type} ${code} ${message}`)
}) as typeof process.emitWarning)

beforeEach(() => {
  warned.length = 0
})

const PROXIED = { headers: { 'X-Forwarded-For': '198.51.100.1, 203.0.113.7' } }

/** Who is charged for requests that have come through a proxy. */
async function charged(app: FastifyInstance): Promise<string | undefined> {
  await app.register(rateLimit, { limit: 9, window: '1d' })
  const ask = await listen(app)
  // A health check comes first, directly to the server.
  await ask('GET /health')
  expect(warned).toEqual([])
  await app.rateLimit.reset('127.0.0.1')
  await ask('GET /', PROXIED)
  await ask('GET /', PROXIED)
  for (const key of ['127.0.0.1', '198.51.100.1', '203.0.113.7']) {
    if ((await app.rateLimit.peek(key)).remaining === 7) return key
  }
  return undefined
}

/** Each warning comes once in a process, so each is tested here once. */
describe("Fastify's trustProxy: an unsafe setting causes a warning, even if not on the first request", () => {
  test('unset: X-Forwarded-For comes, and no proxy is trusted', async () => {
    expect(await charged(fastify())).toBe('127.0.0.1')
    expect(warned).toEqual([expect.stringMatching(/^SluiceWarning SLUICE_PROXY_UNTRUSTED /)])
  })

  test('true: clients choose their address', async () => {
    expect(await charged(fastify({ trustProxy: true }))).toBe('198.51.100.1')
    expect(warned).toEqual([expect.stringMatching(/^SluiceWarning SLUICE_PROXY_EVERYBODY /)])
  })

  test('a number: Fastify ignores it since 5.12.1', async () => {
    expect(await charged(fastify({ trustProxy: 1 as never }))).toBe('127.0.0.1')
    expect(warned).toEqual([
      expect.stringMatching(/^SluiceWarning SLUICE_PROXY_IGNORED .*5\.12\.1.*Name your proxies/),
    ])
  })

  test('a number, before 5.12.1: hops are counted', async () => {
    const app = fastifyWithHops({ trustProxy: 1 as never })
    expect(await charged(app as unknown as FastifyInstance)).toBe('203.0.113.7')
    expect(warned).toEqual([expect.stringMatching(/^SluiceWarning SLUICE_PROXY_HOPS /)])
  })

  test.each([
    ['addresses', ['127.0.0.1']],
    ['text', '127.0.0.0/8'],
    ['a function', (address: string) => address === '127.0.0.1'],
  ])('%s: no warning', async (_, trustProxy) => {
    expect(await charged(fastify({ trustProxy: trustProxy as string }))).toBe('203.0.113.7')
    expect(warned).toEqual([])
  })
})

test('trustProxy of the plugin goes before', async () => {
  const app = fastify({ trustProxy: true })
  await app.register(rateLimit, { limit: 9, window: '1d', trustProxy: 'loopback' })
  await (await listen(app))('GET /', PROXIED)
  expect(await app.rateLimit.peek('203.0.113.7')).toMatchObject({ remaining: 8 })
  expect(warned).toEqual([])
})
