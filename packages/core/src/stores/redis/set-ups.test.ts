// A set-up that never heals by itself rejects with words about it; all else comes through as it is.

import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals'
import {
  patient,
  type RedisCluster,
  type RedisServer,
  startCluster,
  startProxy,
  startRedis,
  until,
} from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import * as redis6 from 'redis'
import * as redis5 from 'redis5'
import { MAX_RESERVATIONS } from '../../algorithms/held/held.ts'
import { ALGORITHM_NAMES, algorithms } from '../../algorithms/index.ts'
import { reserved } from '../../algorithms/reserved/reserved.ts'
import {
  createLimiter,
  type RedisClient,
  redisStore,
  SluiceError,
  StoreError,
} from '../../index.ts'
import type { Store } from '../store.ts'
import { everyClient, ofIoRedis, ofNodeRedis } from './testing/every-client.ts'
import { unguarded, withoutGuard } from './testing/unguarded.ts'

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis()
})
afterAll(() => redis.stop())

/** Reserves for one of the owners of a shared key. Whose its reservations are is counted once it has many. */
function crowdOf(store: Store<'async'>, key: string) {
  const limit = reserved(algorithms['fixed-window']).compile({
    limit: 10_000,
    windowMs: 86_400_000,
  })
  const { algorithm } = limit
  const ledger = store.open([{ name: 'crowd', algorithm }], 'sluice')
  let slot = 0
  const charge = () => {
    slot += 1
    return [{ key, limit, cost: 1, claim: [slot, 7] }]
  }
  return { reserve: (count: number) => ledger.decide(Array.from({ length: count }, charge)) }
}

/** The warnings of a test. */
let warnings: string[]
beforeEach(() => {
  warnings = []
  jest
    .spyOn(process, 'emitWarning')
    .mockImplementation(((message: string) => warnings.push(message)) as never)
})
afterEach(() => {
  jest.restoreAllMocks()
})

const policies = ALGORITHM_NAMES.map((name) => ({
  name,
  algorithm: name,
  limit: 10,
  window: '1d' as const,
}))

const limiterOf = (client: RedisClient) => createLimiter({ store: unguarded(client), policies })

/** What the call rejects with. */
async function failureOf(call: Promise<unknown>): Promise<SluiceError> {
  const failure = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(SluiceError)
  return failure as SluiceError
}

/** Every operation, and each way through the scripts. */
async function useAll(client: RedisClient): Promise<void> {
  const limiter = limiterOf(client)
  await redis.command('SCRIPT', 'FLUSH')
  for (let i = 0; i < 11; i += 1) await limiter.consume('client')
  await createLimiter({ store: unguarded(client), limit: 1, window: '1h' }).consume('client')
  const plain = policies.filter(({ algorithm }) => !algorithms[algorithm].keepsLog)
  await createLimiter({ store: unguarded(client), policies: plain }).consume('client')
  await limiter.peek('client')
  await limiter.settle('client', -20)
  await limiter.settle('client', 3)
  await limiter.block('client', 1000)
  await limiter.consume('client')
  await limiter.reset('client')
}

describe.each([
  ['a client', () => redis6.createClient({ url: redis.url })],
  ['a cluster', () => redis6.createCluster({ rootNodes: [{ url: redis.url }] })],
  ['a pool', () => redis6.createClientPool({ url: redis.url })],
  ['a client of 5', () => redis5.createClient({ url: redis.url })],
  ['a cluster of 5', () => redis5.createCluster({ rootNodes: [{ url: redis.url }] })],
  ['a pool of 5', () => redis5.createClientPool({ url: redis.url })],
])('%s of node-redis', (name, create) => {
  test('that nobody has connected fails immediately, with what to do', async () => {
    const limiter = limiterOf(create())
    for (const op of ['consume', 'peek', 'reset'] as const) {
      const { code, message } = await failureOf(limiter[op]('client'))
      expect(code).toBe('SLUICE_REDIS_NOT_CONNECTED')
      expect(message).toContain('await client.connect()')
    }
  })

  if (name.includes('cluster')) return
  test('serves from when it is connected until it is closed', async () => {
    const client = create()
    const limiter = limiterOf(client)
    await failureOf(limiter.consume('client'))
    const open = await ofNodeRedis(client)
    expect((await limiter.consume(name)).allowed).toBe(true)
    open.close()
    expect((await failureOf(limiter.consume(name))).code).toBe('SLUICE_REDIS_NOT_CONNECTED')
  })
})

describe.each([
  [
    'ioredis',
    async (username: string) => ofIoRedis(new Redis(redis.url, { username, password: 'secret' })),
  ],
  [
    'node-redis',
    async (username: string) => {
      const client = redis6.createClient({ url: redis.url, username, password: 'secret' })
      return ofNodeRedis(client)
    },
  ],
])('an ACL user over %s', (name, connect) => {
  const setUser = (...rules: string[]) =>
    redis.command('ACL', 'SETUSER', name, 'reset', 'on', '>secret', ...rules)
  // What the clients themselves send.
  const own = ['+hello', '+client', '+info', '+select', '+ping']
  let client: RedisClient
  let least: string[]
  let forSlots: string[]

  beforeAll(async () => {
    await setUser(...own)
    client = (await connect(name)).client
    const { code, fix } = await failureOf(limiterOf(client).consume('client'))
    expect(code).toBe('SLUICE_REDIS_FORBIDDEN')
    least = /ACL SETUSER <name> (.*)\.$/.exec(fix)![1]!.split(' ')
    forSlots = fix.match(/\+z\w+/g)!
  })

  test('with what it says of slots can take, renew and release them', async () => {
    const limiter = createLimiter({
      store: unguarded(client),
      policies: [
        { name: 'slots', concurrent: 1, hold: '1m' },
        { name: 'budget', limit: 9, window: '1d', reserve: true, hold: '1m' },
      ],
    })
    const useSlots = async (key: string) => {
      const slot = await limiter.acquire(key)
      expect((await limiter.acquire(key)).allowed).toBe(false)
      await slot.settle(3)
      await crowd.reserve(1)
    }
    await setUser(...own, ...least)
    expect((await failureOf(limiter.acquire('slots'))).code).toBe('SLUICE_REDIS_FORBIDDEN')
    await setUser(...own, ...least, ...forSlots)
    const crowd = crowdOf(unguarded(client), name)
    await crowd.reserve(MAX_RESERVATIONS / 2)
    await useSlots('all')
    for (const rule of forSlots) {
      await setUser(...own, ...least, ...forSlots.filter((other) => other !== rule))
      expect((await failureOf(useSlots(`${name} ${rule}`))).code).toBe('SLUICE_REDIS_FORBIDDEN')
    }
    limiter.close()
  })

  test('with what the error says can do everything', async () => {
    await setUser(...own, ...least)
    await useAll(client)
    expect(least).toHaveLength(11)
  })

  test('with anything less gets an error that names what is missing', async () => {
    for (const rule of least) {
      await setUser(...own, ...least.filter((other) => other !== rule))
      const { code, received } = await failureOf(useAll(client))
      expect([rule, code, received]).toEqual([
        rule,
        'SLUICE_REDIS_FORBIDDEN',
        expect.stringMatching(/permissions|executing the script/),
      ])
    }
  })
})

describe.each(everyClient)('%s', (_, connect) => {
  beforeEach(() => redis.command('FLUSHALL'))

  test('without scripts', async () => {
    for (const commands of [['EVALSHA', 'EVAL'], ['EVAL']]) {
      const args = commands.flatMap((command) => ['--rename-command', command, ''])
      const scriptless = await startRedis({ args })
      const { client, close } = await connect(scriptless.url)
      const { code } = await failureOf(limiterOf(client).consume('client'))
      expect(code).toBe('SLUICE_REDIS_NO_SCRIPTS')
      close()
      await scriptless.stop()
    }
  })

  test('on a replica', async () => {
    // Only once the client is connected: valkey-glide connects to no replica.
    const replica = await startRedis()
    const { client, ping, close } = await connect(replica.url)
    await ping()
    await replica.command('REPLICAOF', redis.host, redis.port)
    let calls = 0
    const store = redisStore(client, {
      onReadOnly: () => {
        calls += 1
        throw new Error('of the owner')
      },
    })
    const limiter = createLimiter({ store: withoutGuard(store), policies })
    for (let i = 0; i < 20; i += 1) {
      const { code, fix } = await failureOf(limiter.consume('client'))
      expect(code).toBe('SLUICE_REDIS_READONLY')
      expect(fix).toContain('reconnectOnError')
    }
    expect(calls).toBeGreaterThan(0)
    close()
    await replica.stop()
  })

  test('what may pass by itself comes through as it is', async () => {
    const { client, close } = await connect(redis.url)
    await redis.command('CONFIG', 'SET', 'maxmemory', '1')
    const failure = await limiterOf(client)
      .consume('client')
      .then(
        () => undefined,
        (error) => error,
      )
    await redis.command('CONFIG', 'SET', 'maxmemory', '0')
    expect(failure).not.toBeInstanceOf(SluiceError)
    expect(failure.message).toMatch(/\bOOM command/)
    close()
  })
})

describe('a node of a cluster', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster.stop())

  test.each(everyClient)('as if it were the whole: %s', async (_, connect) => {
    const { client, close } = await connect(cluster.nodes[0]!.url)
    const limiter = limiterOf(client)
    const failures = []
    for (let i = 0; i < 20; i += 1) {
      failures.push(
        await limiter.consume(`${i}`).then(
          () => undefined,
          (error) => error,
        ),
      )
    }
    const failed = failures.filter((failure) => failure !== undefined)
    expect(failed.length).toBeGreaterThan(0)
    for (const { code, fix } of failed) {
      expect(code).toBe('SLUICE_REDIS_CLUSTER')
      expect(fix).toContain('createCluster')
    }
    // Requests of one turn share a call.
    const several = createLimiter({ ...patient, store: client, policies, onStoreError: 'deny' })
    await Promise.all(Array.from({ length: 20 }, (_, i) => several.consume(`${i}`)))
    expect(warnings).toEqual([expect.stringContaining('SLUICE_REDIS_CLUSTER')])
    close()
  })
})

test('what is like a client and is none gets words about it at once', () => {
  const client = new Redis(redis.url)
  for (const store of [
    client.pipeline(),
    client.multi(),
    { eval: client.eval, evalsha: client.evalsha },
  ]) {
    expect(() => limiterOf(store as never)).toThrow('SLUICE_STORE_UNKNOWN')
  }
  client.disconnect()
})

describe('a server with a password', () => {
  let locked: RedisServer
  beforeAll(async () => {
    locked = await startRedis()
    await locked.command('CONFIG', 'SET', 'requirepass', 'secret')
  })
  afterAll(() => locked.stop())

  test.each([undefined, 'wrong'])('given %j by ioredis', async (password) => {
    const client = new Redis(locked.url, {
      ...(password && { password }),
      retryStrategy: () => null,
    })
    client.on('error', () => {})
    const { close } = ofIoRedis(client)
    const { code } = await failureOf(limiterOf(client).consume('client'))
    expect(code).toBe('SLUICE_REDIS_AUTH')
    close()
  })

  test('given a wrong one, which becomes known only after the deadline: a warning says so', async () => {
    const proxy = await startProxy(locked)
    proxy.latency(150)
    const client = new Redis(proxy.url, { password: 'wrong', disconnectTimeout: 0 })
    client.on('error', () => {})
    const limiter = createLimiter({ store: client, policies, deadline: 50 })
    expect((await limiter.consume('client')).source).toBe('local')
    const said = () => warnings.find((message) => message.includes('SLUICE_REDIS_AUTH'))
    await until(said, { what: 'the warning names the password' })
    // From then on nobody waits.
    expect((await limiter.consume('client')).source).toBe('local')
    expect(warnings).toHaveLength(1)
    client.disconnect()
    await proxy.stop()
  })

  test('a block rejects with a StoreError, and why is its cause', async () => {
    const client = new Redis(locked.url, { password: 'wrong', retryStrategy: () => null })
    client.on('error', () => {})
    const limiter = createLimiter({ ...patient, store: client, policies })
    const failure = await limiter.block('client', '1m').then(
      () => undefined,
      (thrown) => thrown,
    )
    expect(failure).toBeInstanceOf(StoreError)
    expect(failure).toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE', operation: 'block' })
    expect(failure.cause).toBeInstanceOf(SluiceError)
    expect(failure.cause.code).toBe('SLUICE_REDIS_AUTH')
    expect((await limiter.consume('client')).allowed).toBe(false)
    client.disconnect()
    limiter.close()
  })

  test('given none by node-redis', async () => {
    const { client, close } = await ofNodeRedis(redis5.createClient({ url: locked.url }))
    const { code } = await failureOf(limiterOf(client).consume('client'))
    expect(code).toBe('SLUICE_REDIS_AUTH')
    close()
  })
})
