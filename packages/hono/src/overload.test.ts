import { expect, jest, test } from '@jest/globals'
import { Hono } from 'hono'
import { shedFetch, shedLoad } from './overload.ts'

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

test('an application that throws what is no Error keeps no place', async () => {
  const app = new Hono().use(shedLoad())
  app.get('/', () => Promise.reject('wrong'))
  for (let i = 0; i < 100; i += 1) await expect(app.request('/')).rejects.toBe('wrong')
})

test('without an address, trustProxy says whose requests take turns', async () => {
  // Time stands still: the places stay as many as at the start.
  const now = jest.spyOn(performance, 'now').mockReturnValue(1000)
  const app = new Hono().use(shedLoad({ trustProxy: 1, queue: { max: 2, maxWait: '1m' } }))
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  app.get('/', async (c) => {
    await finished
    return c.text('served')
  })
  const ask = async (client: string) =>
    (await app.request('/', { headers: { 'X-Forwarded-For': client } })).status
  const ada = Array.from({ length: 22 }, () => ask('203.0.113.1'))
  const bob = ask('203.0.113.2')
  finish()
  expect(await bob).toBe(200)
  expect((await Promise.all(ada)).filter((status) => status === 503)).toHaveLength(1)
  now.mockRestore()
})

test('wrong arguments throw', () => {
  expect(() => shedFetch({}, undefined as never)).toThrow(
    expect.objectContaining({ code: 'SLUICE_OPTION_TYPE', option: 'handler' }),
  )
  expect(() => shedFetch({ queues: 1 } as never, () => new Response())).toThrow(/queues/)
})
