import { expect, jest, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { Redis } from 'ioredis'
import pg from 'pg'

const SITE = 'https://sluicejs.github.io/sluice/errors'
const CLIENT =
  'Expected a client of ioredis 5 or 6, iovalkey, node-redis 5 or 6, valkey-glide 2, @upstash/redis or Bun, or a store such as memoryStore(), received'

/** The mistakes that many make, and the messages as they stand in the terminal. */
const TYPICAL: readonly (readonly [written: string, given: unknown, message: string])[] = [
  [
    '{ max: 100 }',
    { max: 100 },
    `max: Write limit: 100. There is no option max here. (SLUICE_OPTION_UNKNOWN, ${SITE}#sluice_option_unknown)`,
  ],
  [
    "{ limit: 100, windw: '1m' }",
    { limit: 100, windw: '1m' },
    `windw: Correct its name (did you mean 'window'?). There is no option windw here. (SLUICE_OPTION_UNKNOWN, ${SITE}#sluice_option_unknown)`,
  ],
  [
    "{ limit: 100, window: '1m', validate: false }",
    { limit: 100, window: '1m', validate: false },
    `validate: Remove it: options are always checked. There is no option validate here. (SLUICE_OPTION_UNKNOWN, ${SITE}#sluice_option_unknown)`,
  ],
  [
    '{ limit: 100 }',
    { limit: 100 },
    `window: Write window: '1m' or window: 60_000 for a minute. Expected ms as an integer, or text such as '1m', from 1 ms to 10 years, received undefined. (SLUICE_OPTION_TYPE, ${SITE}#sluice_option_type)`,
  ],
  [
    "{ limit: process.env.LIMIT, window: '1m' }",
    { limit: '100', window: '1m' },
    `limit: Convert the text: Number(process.env.LIMIT), or Number(plan.limit) of a database. Expected an integer from 0 to 9007199254740991, received '100' (string). (SLUICE_OPTION_TYPE, ${SITE}#sluice_option_type)`,
  ],
  [
    "{ limit: 100, window: '1m', statusCode: '429' }",
    { limit: 100, window: '1m', statusCode: '429' },
    `statusCode: Write 429. Expected one of 402, 403, 404, 429, 503, received '429' (string). (SLUICE_OPTION_VALUE, ${SITE}#sluice_option_value)`,
  ],
  [
    "{ limit: 100, window: '1m', trustProxy: true }",
    { limit: 100, window: '1m', trustProxy: true },
    `trustProxy: Name your proxies: trustProxy: ['loopback', '10.0.0.0/8']. If every address were trusted, each client could choose its own. Expected addresses, CIDRs, loopback, linklocal, uniquelocal, hops from 0 to 32, a function, or { proxies, header }, received true (boolean). (SLUICE_TRUST_PROXY, ${SITE}#sluice_trust_proxy)`,
  ],
  [
    "{ limit: 100, window: '1m', store: 'redis://localhost' }",
    { limit: 100, window: '1m', store: 'redis://localhost' },
    `store: Pass the client itself: new Redis(url) of ioredis, or createClient({ url }) of redis. ${CLIENT} a URL (redis:) of 17 characters. (SLUICE_STORE_UNKNOWN, ${SITE}#sluice_store_unknown)`,
  ],
  [
    "{ limit: 100, window: '1m', store: client.connect() }",
    { limit: 100, window: '1m', store: Promise.resolve(new Redis({ lazyConnect: true })) },
    `store: Await it: this is a promise. ${CLIENT} an object of class Promise. (SLUICE_STORE_UNKNOWN, ${SITE}#sluice_store_unknown)`,
  ],
  [
    "{ limit: 100, window: '1m', store: new pg.Pool() }",
    { limit: 100, window: '1m', store: new pg.Pool() },
    `store: Write postgresStore(pool) of @sluice/postgres, with a Pool of pg or a client of postgres.js. ${CLIENT} an object of class BoundPool. (SLUICE_STORE_UNKNOWN, ${SITE}#sluice_store_unknown)`,
  ],
]

test.each(TYPICAL)('rateLimit(%s) says first what to do', (_, given, message) => {
  expect(() => rateLimit(given as never)).toThrow(message)
})

test('a window that is probably meant in seconds causes a warning, and works', () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const middleware = rateLimit({ limit: 100, window: 60 })
  expect(warned.mock.calls).toEqual([
    [
      `Write window: '60s' or window: '60ms': a number is milliseconds. (SLUICE_WINDOW_SHORT, ${SITE}#sluice_window_short)`,
      { type: 'SluiceWarning', code: 'SLUICE_WINDOW_SHORT' },
    ],
  ])
  middleware.limiter.close()
})
