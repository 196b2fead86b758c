import { expect, test } from '@jest/globals'
import { shedFetch } from './overload.ts'

const request = () => new Request('http://example.com/')

test('a handler gets its other arguments, and so does address', async () => {
  const GET = shedFetch({ address: (_, { ip }) => ip }, (_, { ip }: { ip: string }) =>
    Response.json({ ip }),
  )
  expect(await (await GET(request(), { ip: '192.0.2.1' })).json()).toEqual({ ip: '192.0.2.1' })
})

test('what the handler and the functions throw rejects, and takes no place', async () => {
  const wrong = new Error('wrong')
  const failing = shedFetch({}, () => Promise.reject(wrong))
  for (let i = 0; i < 100; i += 1) await expect(failing(request())).rejects.toBe(wrong)
  const classes = { normal: {} }
  const classOf = () => {
    throw wrong
  }
  await expect(shedFetch({ classOf, classes }, () => new Response())(request())).rejects.toBe(wrong)
})

test('wrong arguments throw', () => {
  expect(() => shedFetch({}, undefined as never)).toThrow(
    expect.objectContaining({ code: 'SLUICE_OPTION_TYPE', option: 'handler' }),
  )
  expect(() => shedFetch({ queues: 1 } as never, () => new Response())).toThrow(/queues/)
})
