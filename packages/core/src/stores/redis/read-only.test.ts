// A master is demoted while its connections stand: the address leads to the new one, and the
// client must connect anew to notice.

import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import {
  type RedisProxy,
  type RedisServer,
  startProxy,
  startRedis,
  until,
} from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import * as iovalkey from 'iovalkey'
import * as redis6 from 'redis'
import * as redis5 from 'redis5'
import { createLimiter, type RedisClient, redisStore, type SluiceError } from '../../index.ts'
import { type NodeRedis, ofIoRedis, ofNodeRedis } from './testing/every-client.ts'
import { withoutGuard } from './testing/unguarded.ts'

let servers: RedisServer[]
let proxy: RedisProxy
let url: string
beforeEach(async () => {
  servers = await Promise.all([startRedis(), startRedis()])
  proxy = await startProxy(servers[0]!)
  url = proxy.url
})
afterEach(async () => {
  await proxy.stop()
  await Promise.all(servers.map((server) => server.stop()))
})

/** The first server becomes a replica of the second, to which new connections lead. */
async function failOver(): Promise<void> {
  const [old, fresh] = servers as [RedisServer, RedisServer]
  await old.command('REPLICAOF', fresh.host, fresh.port)
  proxy.retarget(fresh.port)
}

function limiterOf(client: RedisClient, onReadOnly?: () => unknown) {
  const store = redisStore(client, onReadOnly ? { onReadOnly } : {})
  const limiter = createLimiter({ store: withoutGuard(store), limit: 1000, window: '1d' })
  return () => limiter.consume('client')
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: SluiceError) => error.code,
  )

/** Checks that the limiter, which met the replica, decides again. */
async function expectRecovery(consume: ReturnType<typeof limiterOf>): Promise<void> {
  for (let i = 0; i < 2; i += 1) expect((await consume()).allowed).toBe(true)
  await failOver()
  expect(await codeOf(consume())).toBe('SLUICE_REDIS_READONLY')
  const decides = async () => (await codeOf(consume())) === undefined
  const what = 'the limiter decides on the new master'
  await until(decides, { everyMs: 20, what })
  expect((await servers[1]!.command('KEYS', '*{client}*')) as string[]).toHaveLength(1)
}

test.each([
  ['ioredis 6', Redis],
  ['ioredis 5', Redis5 as never as typeof Redis],
  ['iovalkey', iovalkey.Redis as never as typeof Redis],
])('%s recovers by the reconnectOnError that the error names', async (_, Client) => {
  const client = new Client(url, {
    reconnectOnError: (e) => (e.message.includes('READONLY') ? 1 : false),
    disconnectTimeout: 0,
  })
  const { close } = ofIoRedis(client)
  await expectRecovery(limiterOf(client))
  close()
})

test.each([
  ['node-redis 6', () => redis6.createClient({ url })],
  ['node-redis 5', () => redis5.createClient({ url })],
])('%s recovers where onReadOnly lets it connect anew', async (_, create) => {
  const client: RedisClient & NodeRedis = create()
  const { close } = await ofNodeRedis(client)
  await expectRecovery(
    limiterOf(client, async () => {
      client.destroy()
      await client.connect()
    }),
  )
  close()
})

test('without onReadOnly node-redis stays on the demoted master, and a warning says so', async () => {
  const { client, close } = await ofNodeRedis(redis6.createClient({ url }))
  const consume = limiterOf(client)
  await consume()
  await failOver()
  for (let i = 0; i < 20; i += 1) expect(await codeOf(consume())).toBe('SLUICE_REDIS_READONLY')
  close()
})

test('onReadOnly is called at most once a second, and again while it lasts', async () => {
  const { client, close } = await ofNodeRedis(redis6.createClient({ url }))
  const called = jest.fn()
  const consume = limiterOf(client, called)
  await consume()
  await failOver()
  const time = jest.spyOn(performance, 'now')
  for (const [now, calls] of [
    [5_000, 1],
    [5_999, 1],
    [6_000, 2],
    [6_999, 2],
    [7_000, 3],
  ] as const) {
    time.mockReturnValue(now)
    expect(await codeOf(consume())).toBe('SLUICE_REDIS_READONLY')
    expect(called).toHaveBeenCalledTimes(calls)
  }
  time.mockRestore()
  close()
})
