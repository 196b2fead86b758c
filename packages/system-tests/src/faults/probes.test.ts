// A probe writes, whatever the request was: where nothing can be written the store stays away, and
// the warnings don't go on and off.

import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createLimiter, type Decision, type Limiter } from '@sluice/core'
import { type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { warningCodes } from './warning-codes.ts'

let redis: RedisServer
let client: Redis
/** How much further this process' clock is than it was, ms. */
let ahead: number
beforeEach(async () => {
  redis = await startRedis()
  const now = performance.now.bind(performance)
  ahead = 0
  jest.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
})
afterEach(async () => {
  jest.restoreAllMocks()
  client.disconnect()
  await redis.stop()
})

const PROBES = 8

/** Runs so many probes, one after the other, each by a request that the limiter refuses. */
async function probe(limiter: Limiter): Promise<Decision['source'][]> {
  const scripts = async () => {
    const { evalsha, eval: whole } = await redis.commandStats()
    return (evalsha?.calls ?? 0) + (whole?.calls ?? 0)
  }
  const sources: Decision['source'][] = []
  for (let i = 0; i < PROBES; i += 1) {
    const before = await scripts()
    // The longest that a breaker waits for its next probe.
    ahead += 3000
    const decision = await limiter.consume('client')
    expect(decision.allowed).toBe(false)
    sources.push(decision.source)
    await until(async () => (await scripts()) > before, {
      what: 'a probe has run',
    })
    // Its answer has been read once a later one has.
    await client.ping()
  }
  return sources
}

/** Uses up the client's quota, and fails until the breaker is open. */
async function open(limiter: Limiter, spoil: () => Promise<unknown>): Promise<void> {
  while ((await limiter.consume('client')).allowed);
  await spoil()
  let next = 0
  const isOpen = async () => {
    next += 1
    await limiter.consume(`new ${next}`)
    return warningCodes.length > 0
  }
  await until(isOpen, { what: 'the breaker is open' })
}

const options = { limit: 3, window: '1h', refusalCache: false } as const

test('out of memory: refused requests don’t bring the store back', async () => {
  client = new Redis(redis.url)
  const limiter = createLimiter({ ...options, store: client })
  await open(limiter, () => redis.command('CONFIG', 'SET', 'maxmemory', '1'))
  expect(await probe(limiter)).toEqual(Array(PROBES).fill('local'))
  expect(warningCodes).toEqual(['SLUICE_STORE_DOWN'])
  await redis.command('CONFIG', 'SET', 'maxmemory', '0')
  await probe(limiter)
  expect(warningCodes).toEqual(['SLUICE_STORE_DOWN', 'SLUICE_STORE_UP'])
})

test.each(['set', 'setrange', 'pexpire'])('an ACL without +%s: the same', async (missing) => {
  const user = ['ACL', 'SETUSER', 'limiter', 'on', '>secret', '~*', '+@all'] as const
  await redis.command(...user)
  client = new Redis(redis.url, { username: 'limiter', password: 'secret' })
  // The log uses all of them, a new key `set` or `pexpire`, one that is there `setrange`.
  const algorithm = missing === 'set' ? 'sliding-window' : 'sliding-log'
  const limiter = createLimiter({ ...options, store: client, algorithm })
  await open(limiter, () => redis.command('ACL', 'SETUSER', 'limiter', `-${missing}`))
  expect(await probe(limiter)).toEqual(Array(PROBES).fill('local'))
  expect(warningCodes).toEqual(['SLUICE_STORE_DOWN'])
  await redis.command('ACL', 'SETUSER', 'limiter', `+${missing}`)
  await probe(limiter)
  expect(warningCodes).toEqual(['SLUICE_STORE_DOWN', 'SLUICE_STORE_UP'])
})
