// Mistakes of beginners, each with the first line that they see: of an error, or of a warning.

import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { expect, jest, test } from '@jest/globals'
import { createLimiter, memoryStore, type Store } from '@sluice/core'
import { rateLimit } from '@sluice/express'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { Redis } from 'ioredis'
import { createPool } from 'mysql2'
import pg from 'pg'
import request from 'supertest'

const OPTIONS = { limit: 100, window: '1m' } as const

/** What the options say, written as they are here. */
const options = (given: object) => () => rateLimit({ ...OPTIONS, ...given } as never)

/** What a call by hand says. */
const call = (act: (limiter: never) => unknown) => () => {
  const limiter = createLimiter({ ...OPTIONS, store: memoryStore() })
  return act(limiter as never)
}

/** What a server says at its first request. */
const served =
  (...handlers: readonly unknown[]) =>
  async () => {
    const app = express()
    for (const each of handlers) app.use(each as RequestHandler)
    app.use((_, response) => void response.end())
    app.use(((error, _, response, __) => {
      response.status(500).send((error as Error).message)
    }) as ErrorRequestHandler)
    const { status, text } = await request(app).get('/').set('X-Forwarded-For', '203.0.113.7')
    if (status === 500) throw new Error(text)
  }

function remote(): Store<'async'> {
  const store = memoryStore()
  return {
    mode: 'async',
    close() {},
    open(keyspaces, prefix) {
      const ledger = store.open(keyspaces, prefix)
      return {
        decide: async (...given) => structuredClone(ledger.decide(...given)),
        change: async (...given) => ledger.change(...given),
      }
    },
  }
}

const handler = () => {}

const MISTAKES: readonly (readonly [written: string, act: () => unknown, line: string])[] = [
  ['{ max: 100 }', options({ max: 100 }), 'max: Write limit: 100.'],
  [
    "{ windw: '1m' }",
    options({ windw: '1m' }),
    "windw: Correct its name (did you mean 'window'?).",
  ],
  ['{ windowMs: 60_000 }', options({ windowMs: 60_000 }), 'windowMs: Write window: 60_000.'],
  [
    '{ keyGenerator }',
    options({ keyGenerator: handler }),
    "keyGenerator: Write key: 'ip', 'user' or (request) => text.",
  ],
  [
    'no window',
    options({ window: undefined }),
    "window: Write window: '1m' or window: 60_000 for a minute.",
  ],
  ["limit: '100'", options({ limit: '100' }), 'limit: Convert the text: Number(process.env.LIMIT)'],
  ['limit: NaN', options({ limit: Number.NaN }), 'limit: Give limit as an integer'],
  ['limit: -1', options({ limit: -1 }), 'limit: Give limit as an integer'],
  ['limit: 0.5', options({ limit: 0.5 }), 'limit: Give limit as an integer'],
  [
    'limit: Infinity',
    options({ limit: Infinity }),
    'limit: Give 9007199254740991, the largest limit, where there is no limit.',
  ],
  [
    "window: 'minutely'",
    options({ window: 'minutely' }),
    "window: Write window: '1m' or window: 60_000 for a minute.",
  ],
  ["statusCode: '429'", options({ statusCode: '429' }), 'statusCode: Write 429.'],
  ['trustProxy: true', options({ trustProxy: true }), 'trustProxy: Name your proxies:'],
  [
    "store: 'redis://localhost'",
    options({ store: 'redis://localhost' }),
    'store: Pass the client itself: new Redis(url)',
  ],
  [
    'store: client.connect()',
    options({ store: Promise.resolve() }),
    'store: Await it: this is a promise.',
  ],
  [
    'store: new pg.Pool()',
    options({ store: new pg.Pool() }),
    'store: Write postgresStore(pool) of @sluice/postgres',
  ],
  [
    'store: createPool()',
    options({ store: createPool({}) }),
    'store: Write mysqlStore(pool) of @sluice/mysql',
  ],
  [
    'store: new DynamoDBClient()',
    options({ store: new DynamoDBClient({ region: 'eu-west-1' }) }),
    'store: Write dynamodbStore(client) of @sluice/dynamodb',
  ],
  ['store: Redis', options({ store: Redis }), 'store: Pass the client itself: new Redis(url)'],
  ["key: 'ipAddress'", options({ key: 'ipAddress' }), "key: Write one of 'ip', 'user'."],
  [
    "algorithm: 'token_bucket'",
    options({ algorithm: 'token_bucket' }),
    "algorithm: Write 'token-bucket'.",
  ],
  [
    'burst in a sliding window',
    options({ burst: 200 }),
    "burst: Remove burst, or choose algorithm: 'token-bucket'.",
  ],
  ['cost: 200, of 100', options({ cost: 200 }), 'cost: Lower the cost, or raise the limit:'],
  [
    'skip: true',
    options({ skip: true }),
    'skip: Give skip as a function (request, key) => boolean.',
  ],
  [
    "deny: '203.0.113.7'",
    options({ deny: '203.0.113.7' }),
    "deny: Write deny: ['203.0.113.7', '2001:db8::/32', 'user:42'].",
  ],
  [
    "allow: ['10.0.0.0/33']",
    options({ allow: ['10.0.0.0/33'] }),
    'allow: Correct the address and the prefix:',
  ],
  [
    'routes: { login: … }',
    options({ routes: { login: { limit: 5 } } }),
    "routes['login']: Write it as the framework's router would: 'POST /login'",
  ],
  [
    "headers: 'draft8'",
    options({ headers: 'draft8' }),
    "headers: Name a profile, for example headers: 'draft-11'",
  ],
  [
    'consume()',
    call((limiter: { consume(): unknown }) => limiter.consume()),
    'key: Pass the text that identifies the client.',
  ],
  [
    "consume('ada', 5)",
    call((limiter: { consume(...given: unknown[]): unknown }) => limiter.consume('ada', 5)),
    'options: Give options as an object. Expected { cost: 5 }',
  ],
  [
    "block('ada')",
    call((limiter: { block(...given: unknown[]): unknown }) => limiter.block('ada')),
    "duration: Write duration: '1m'",
  ],
  [
    'app.use(rateLimit)',
    served(rateLimit),
    'options: Call rateLimit with its options and pass what it returns, not rateLimit itself:',
  ],
  [
    'window: 60',
    options({ window: 60 }),
    "Write window: '60s' or window: '60ms': a number is milliseconds.",
  ],
  [
    'no trustProxy behind a proxy',
    served(rateLimit(OPTIONS)),
    'Requests come with X-Forwarded-For, but no proxy is trusted:',
  ],
  [
    'a limiter for each request',
    async () => {
      for (let i = 0; i < 30; i += 1)
        await served(((...given) => rateLimit(OPTIONS)(...given)) as RequestHandler)()
    },
    'Many limiters with the same options, 10 or more, were each used once and never again.',
  ],
  [
    'no await',
    () =>
      (
        createLimiter({ ...OPTIONS, store: remote() }).consume('ada') as unknown as {
          allowed: unknown
        }
      ).allowed,
    'The promise of a decision was asked whether it is allowed, and says undefined: await is missing.',
  ],
  [
    'skip without return',
    async () => {
      const skip = (each: { path: string }) => {
        each.path
      }
      const limit = rateLimit({ ...OPTIONS, skip: skip as never })
      for (let i = 0; i < 2; i += 1) await served(limit)()
    },
    'The function skip returns nothing, so no request is exempt.',
  ],
]

test.each(MISTAKES)('%s', async (_, act, line) => {
  const seen: string[] = []
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(((text: string) => {
    seen.push(text)
  }) as typeof process.emitWarning)
  try {
    await act()
  } catch (error) {
    seen.unshift((error as Error).message)
  }
  warn.mockRestore()
  expect(seen[0]?.slice(0, line.length)).toBe(line)
})
