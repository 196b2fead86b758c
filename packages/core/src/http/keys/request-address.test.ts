import type { IncomingMessage } from 'node:http'
import { expect, jest, test } from '@jest/globals'
import { plain } from '../../testing/plain-server.ts'
import { HttpLimiter } from '../http-limiter.ts'
import type { RateLimitOptions } from '../rate-limit-options.ts'
import { clientGone } from '../verdict.ts'

const request = () => ({ method: 'GET', headers: {}, socket: {} }) as unknown as IncomingMessage
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
  const [one, other] = [request(), request()]
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
  httpLimiter.decide(request())
  expect(address).toHaveBeenCalledTimes(1)
  httpLimiter.limiter.close()
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
  await httpLimiter.decide(request())
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
  expect(httpLimiter.decide(request())).toBeUndefined()
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
