import type { IncomingMessage } from 'node:http'
import { expect, jest, test } from '@jest/globals'
import { plain } from '../../testing/plain-server.ts'
import { HttpLimiter } from '../http-limiter.ts'
import type { RateLimitOptions } from '../rate-limit-options.ts'

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
  for (const each of [one, other]) await httpLimiter.check(each)
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
  httpLimiter.check(request())
  expect(address).toHaveBeenCalledTimes(1)
  httpLimiter.limiter.close()
})
