import { afterEach, expect, jest, test } from '@jest/globals'
import fastify from 'fastify'
import { shedLoad } from './overload.ts'
import { listen } from './testing.ts'

/** So many begin before the process knows how long they take. */
const PLACES = 20

afterEach(() => void jest.restoreAllMocks())

test('a request that says Upgrade, and is no handshake, takes a place or waits as others do', async () => {
  // Time stands still: the places stay as many as at the start.
  jest.spyOn(performance, 'now').mockReturnValue(1000)
  const app = fastify()
  await app.register(shedLoad, { queue: { max: 1, maxWait: '1m' } })
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  let begun = 0
  app.get('/', async () => {
    begun += 1
    if (begun > PLACES) finish()
    await finished
    return 'served'
  })
  const ask = await listen(app)
  const asked = Array.from({ length: PLACES + 2 }, async () => {
    return (await ask('GET /', { headers: { Upgrade: 'websocket' } })).status
  })
  void Promise.race(asked).then(finish)
  expect((await Promise.all(asked)).filter((status) => status === 503)).toHaveLength(1)
})
