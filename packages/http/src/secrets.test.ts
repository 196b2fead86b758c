// What is given as an option may be a secret in the wrong place: no error shows any of it.

import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createLimiter, memoryStore, redisStore, StoreError } from '@sluice/core'
import { OPTIONS, readAdapterOption } from '@sluice/core/internal'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { RoutedLimiter } from './path/routed-limiter.ts'
import type { RequestAdapter } from './request-adapter.ts'

/** A secret without a unit or a prefix: those are public, in header fields and in the keys of the store. */
const SECRET = 'Hunter2+s3cret'

class Client {
  readonly options = { password: SECRET }
  readonly [SECRET] = SECRET
  toString = () => SECRET
  toJSON = () => SECRET
}

const VALUES: readonly [string, unknown][] = [
  ['text', SECRET],
  ['a URL', `rediss://user:${SECRET}@cache:6379/0`],
  ['text of several lines', `\n${SECRET}\n`],
  ['a client', new Client()],
  ['a list', [SECRET, { password: SECRET }]],
  ['an object', { password: SECRET, constructor: { name: SECRET } }],
  ['a symbol', Symbol(SECRET)],
  ['an error', new Error(SECRET)],
  ['bytes', Buffer.from(SECRET)],
]

/** Everything that a logger could write of an error. */
function logged(error: unknown): string {
  const { cause, message, stack } = error as Error
  return [
    message,
    stack,
    inspect(error, { depth: 10, showHidden: true }),
    JSON.stringify(error),
    inspect(cause, { depth: 10 }),
  ].join('\n')
}

function thrownBy(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return undefined
}

const ok = { limit: 10, window: '1m' }
const http = (given: object) =>
  new RoutedLimiter(given as never, {} as RequestAdapter<unknown, unknown>)
const client = { evalsha: fail, evalshaBuffer: fail, eval: fail, status: 'ready' }
async function fail() {}

const OPTION_NAMES: readonly [string, readonly object[], (given: object) => unknown][] = [
  [
    'a limiter',
    [OPTIONS.policy, OPTIONS.concurrency, OPTIONS.policies, OPTIONS.store, OPTIONS.events],
    (given) => createLimiter({ ...ok, ...given } as never),
  ],
  [
    'a policy',
    [OPTIONS.policy, OPTIONS.concurrency, OPTIONS.requestPolicy],
    (given) => http({ policies: [{ ...ok, ...given }] }),
  ],
  ['a middleware', [...Object.values(OPTIONS)], (given) => http({ ...ok, ...given })],
  [
    'a route',
    [OPTIONS.policy, OPTIONS.requestPolicy, OPTIONS.http],
    (given) => http({ ...ok, routes: { '/login': given } }),
  ],
  ['a ban', [{ after: 1, within: 1, for: 1 }], (ban) => createLimiter({ ...ok, ban } as never)],
  ['memoryStore', [OPTIONS.memoryStore], (given) => memoryStore(given as never)],
  ['redisStore', [OPTIONS.redisStore], (given) => redisStore(client, given as never)],
  ['inspect', [{ prefix: 1, policy: 1, key: 1 }], (given) => memoryStore().inspect(given)],
]

describe.each(OPTION_NAMES)('the options of %s', (_, tables, call) => {
  const names = [
    ...new Set(tables.flatMap(Object.keys)),
    'store',
    'unknown',
    'nameSpace',
    'timeWindow',
  ]
  it.each(VALUES)('with %s as each of them', (_, value) => {
    const errors = names.map((name) => thrownBy(() => call({ [name]: value })))
    expect(errors.filter((error) => error !== undefined).length).toBeGreaterThan(1)
    for (const error of errors) expect(logged(error ?? new Error())).not.toContain(SECRET)
  })
})

it.each(VALUES)('%s as the options of an adapter, as all options, and in calls', (_, value) => {
  const limiter = createLimiter({ limit: 10, window: '1m' })
  const calls: ((given: never) => unknown)[] = [
    ...Object.keys(OPTIONS.adapter).map((name) => (given: never) => {
      return readAdapterOption(name as 'hook', { [name]: given })
    }),
    createLimiter,
    http,
    memoryStore,
    (given) => redisStore(given),
    (given) => redisStore(client, given),
    (given) => http({ ...ok, routes: { '/login': given } }),
    (given) => http({ ...ok, policies: [given] }),
    (given) => limiter.consume('key', { cost: given }),
    (given) => limiter.settle('key', given),
    (given) => limiter.block('key', given),
  ]
  for (const call of calls) {
    expect(logged(thrownBy(() => call(value as never)) ?? new Error())).not.toContain(SECRET)
  }
  limiter.close()
})

describe('a server that refuses the password', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
    await redis.command('CONFIG', 'SET', 'requirepass', 'another')
  })
  afterAll(() => redis.stop())

  it('is named without it, in the error of the store and in its cause', async () => {
    const client = new Redis(redis.port, { password: SECRET, retryStrategy: null as never })
    client.on('error', () => {})
    const limiter = createLimiter({ store: client, limit: 10, window: '1m' })
    const error = await limiter.block('key', '1m').catch((error: unknown) => error)
    expect(error).toBeInstanceOf(StoreError)
    expect(logged(error)).not.toContain(SECRET)
    limiter.close()
    client.disconnect()
  })
})
