import type { IncomingMessage } from 'node:http'
import { expect, jest, test } from '@jest/globals'
import { Gate } from '../gate.ts'
import type { RateLimitOptions } from '../options/rate-limit-options.ts'
import { plain } from '../testing/plain-server.ts'

const request = () => ({ method: 'GET', headers: {}, socket: {} }) as unknown as IncomingMessage
const policies = ['a', 'b', 'c'].map((name) => ({ name, limit: 9, window: '1m' as const }))

test.each<[string, object]>([
  ['one policy', { limit: 9, window: '1m' }],
  ['several policies', { policies }],
  ['one policy and a list', { limit: 9, window: '1m', deny: ['10.0.0.1'] }],
  ['several policies and both lists', { policies, allow: ['10.0.0.1'], deny: ['10.0.0.2'] }],
])('point 61: the address is read once per request: %s', async (_, options) => {
  const address = jest.fn(() => '192.0.2.1')
  const gate = new Gate(
    options as RateLimitOptions<IncomingMessage, never>,
    {
      ...plain,
      address,
    } as never,
  )
  const [one, other] = [request(), request()]
  for (const each of [one, other]) await gate.check(each)
  expect(address.mock.calls).toEqual([[one], [other]])
  gate.limiter.close()
})

test('a client without an address is asked for no second time', () => {
  const address = jest.fn(() => undefined)
  const gate = new Gate(
    { policies } as RateLimitOptions<IncomingMessage, never>,
    {
      ...plain,
      address,
    } as never,
  )
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  gate.check(request())
  expect(address).toHaveBeenCalledTimes(1)
  gate.limiter.close()
})
