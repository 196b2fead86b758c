import { expect, test } from '@jest/globals'
import { decisionOf, limitFetch, RateLimitError } from './index.ts'

const LIMITED = { limit: 1, window: '1d' } as const
const request = () => new Request('http://example.com/')

test('a handler of Next.js: its other arguments are passed on, and say the address', async () => {
  interface Context {
    ip: string
  }
  const GET = limitFetch({ ...LIMITED, address: (_, { ip }) => ip }, (request, { ip }: Context) =>
    Response.json({ ip, left: decisionOf(request)?.remaining }),
  )
  expect(await (await GET(request(), { ip: '192.0.2.1' })).json()).toEqual({
    ip: '192.0.2.1',
    left: 0,
  })
  expect((await GET(request(), { ip: '192.0.2.1' })).status).toBe(429)
  expect((await GET(request(), { ip: '192.0.2.2' })).status).toBe(200)
  GET.limiter.close()
})

test('nothing that says who a client is: it throws', () => {
  expect(() => limitFetch(LIMITED, () => new Response())).toThrow(
    expect.objectContaining({ code: 'SLUICE_OPTION_TYPE', option: 'address' }),
  )
})

test('what the handler and the functions throw rejects', async () => {
  const wrong = new Error('wrong')
  const throws = () => {
    throw wrong
  }
  const handled = limitFetch({ ...LIMITED, key: () => 'client' }, throws)
  await expect(handled(request())).rejects.toBe(wrong)
  const keyed = limitFetch({ ...LIMITED, key: throws }, () => new Response())
  await expect(keyed(request())).rejects.toBe(wrong)
  for (const each of [handled, keyed]) each.limiter.close()
})

test('each call counts, of the same request too', async () => {
  const limited = limitFetch({ ...LIMITED, key: () => 'client' }, () => new Response())
  const same = request()
  expect([(await limited(same)).status, (await limited(same)).status]).toEqual([200, 429])
  limited.limiter.close()
})

test('a request without a limiter has no decision', () => {
  expect(decisionOf(request())).toBeUndefined()
})

test('a refusal that is thrown has its response', async () => {
  const limited = limitFetch(
    { ...LIMITED, limit: 0, key: () => 'client', respond: 'throw' },
    () => new Response(),
  )
  const error: unknown = await limited(request()).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(RateLimitError)
  expect((error as RateLimitError).getResponse().status).toBe(429)
  limited.limiter.close()
})
