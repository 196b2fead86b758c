import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { patient, until } from '@sluice/test-harness/redis'
import { createLimiter } from '../../limiter/create-limiter.ts'
import { redisStore } from './redis-store.ts'

const redis = useRedis()
const closing: { close(): void }[] = []

beforeEach(() => redis.client.flushall())
afterEach(() => {
  for (const each of closing.splice(0)) each.close()
})

/** A limiter as another process would have it: nothing but Redis is shared. */
function limiterOf(hold = 30_000) {
  const store = redisStore(redis.client)
  const limiter = createLimiter({ ...patient, store, concurrent: 5, hold })
  closing.push(limiter)
  return limiter
}

test('everything is renewed in one call, and what Redis has lost is there again', async () => {
  const limiter = limiterOf(1000)
  const slots = []
  for (let i = 0; i < 60; i += 1) slots.push(await limiter.acquire(`key ${i % 20}`))
  // A key that can't be read keeps no other from being renewed. At once: a renewal may come at any time.
  const unreadable = 'sluice:{key 19}:concurrency:0:default'
  await redis.client.multi().flushall().lpush(unreadable, 'no state').exec()
  await redis.server.command('CONFIG', 'RESETSTAT')
  const remaining = async () => (await limiter.peek('key 0')).remaining
  await until(async () => (await remaining()) === 2, { what: 'it is renewed' })
  const { evalsha, lpush } = await redis.server.commandStats()
  expect(lpush).toBeUndefined()
  expect(evalsha?.calls).toBeGreaterThan(0)
  for (const slot of slots) await slot.release()
  expect(await remaining()).toBe(5)
})

test('the state of a key stays as small as what is in progress', async () => {
  const limiter = limiterOf()
  for (let i = 0; i < 200; i += 1) await (await limiter.acquire('ada')).release()
  expect(await redis.client.keys('*{ada}*')).toEqual([])
  await limiter.acquire('ada')
  const [state, slots] = (await redis.client.keys('*{ada}*')).sort() as [string, string]
  expect(await redis.client.strlen(state)).toBe(32)
  // The slot by its end and by its number, and the clock.
  expect([slots, await redis.client.zcard(slots)]).toEqual([`${state}\theld`, 3])
  for (const key of [state, slots]) expect(await redis.client.pttl(key)).toBeGreaterThan(30_000)
})

test('a reset and a block leave nothing of what is in progress', async () => {
  const limiter = limiterOf()
  for (const end of [() => limiter.reset('ada'), () => limiter.block('ada', '1m')]) {
    await limiter.acquire('ada')
    await end()
    expect((await redis.client.keys('*{ada}*')).filter((key) => !key.includes('}:own:'))).toEqual(
      [],
    )
  }
})

test('what is held beside a count that is there already ends too', async () => {
  const store = redisStore(redis.client)
  const limiter = createLimiter({
    ...patient,
    store,
    limit: 9,
    window: '1d',
    algorithm: 'fixed-window',
    reserve: true,
  })
  closing.push(limiter)
  await limiter.settle('ada', 1)
  await limiter.acquire('ada')
  const [held] = await redis.client.keys('*{ada}*\theld')
  expect(await redis.client.pttl(held as string)).toBeGreaterThan(30_000)
})
