import { expect, it } from '@jest/globals'
import type {
  ConcurrencyOptions,
  Duration,
  EventOptions,
  MemoryStoreOptions,
  PolicyOptions,
  RedisStoreOptions,
} from '@sluice/core'
import type { OPTIONS, StoreOptions } from '@sluice/core/internal'
import type { OptionType } from '../../../core/src/options/types.ts'
import type {
  HttpOptions,
  RequestConcurrencyOptions,
  RequestPolicyOptions,
} from './options.generated.ts'
import type { RateLimitConfig, RateLimitOptions, Routes } from './rate-limit-options.ts'

// The interfaces are written from the table: the compiler proves here that they agree, both ways.

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
type Table = typeof OPTIONS
type Http = HttpOptions<Request, Response>

/** The compiled form of an option, for those that stay as the user wrote them. */
type Checked<O> = O extends { type: OptionType<infer T> } ? T : never

const sameNames: {
  policy: Same<keyof PolicyOptions, keyof Table['policy']>
  requestPolicy: Same<
    keyof RequestPolicyOptions<Request, Response>,
    keyof Table['policy'] | keyof Table['requestPolicy']
  >
  concurrency: Same<keyof ConcurrencyOptions, keyof Table['concurrency']>
  requestConcurrency: Same<keyof RequestConcurrencyOptions<Request>, keyof Table['concurrency']>
  store: Same<keyof StoreOptions, keyof Table['store']>
  events: Same<keyof EventOptions, keyof Table['events']>
  http: Same<
    keyof Http,
    | keyof Table['http']
    | keyof Table['requestPolicy']
    | keyof Table['store']
    | keyof Table['events']
  >
  memoryStore: Same<keyof MemoryStoreOptions, keyof Table['memoryStore']>
  redisStore: Same<keyof RedisStoreOptions, keyof Table['redisStore']>
} = {
  policy: true,
  requestPolicy: true,
  concurrency: true,
  requestConcurrency: true,
  store: true,
  events: true,
  http: true,
  memoryStore: true,
  redisStore: true,
}

type PlainName = 'ipv6Prefix' | 'retryAfterJitter' | 'partitionSecret' | 'statusCode' | 'dryRun'
type PlainStoreName = 'prefix' | 'onStoreError' | 'localShare' | 'refusalCache'

const sameTypes: {
  limit: Same<PolicyOptions['limit'], Checked<Table['policy']['limit']>>
  algorithm: Same<Required<PolicyOptions>['algorithm'], Checked<Table['policy']['algorithm']>>
  store: {
    [name in PlainStoreName]: Same<Required<StoreOptions>[name], Checked<Table['store'][name]>>
  }
  http: { [name in PlainName]: Same<Required<Http>[name], Checked<Table['http'][name]>> }
} = {
  limit: true,
  algorithm: true,
  store: { prefix: true, onStoreError: true, localShare: true, refusalCache: true },
  http: {
    ipv6Prefix: true,
    retryAfterJitter: true,
    partitionSecret: true,
    statusCode: true,
    dryRun: true,
  },
}

export function requiredAndOptional() {
  // @ts-expect-error: a limit is required
  const noLimit: PolicyOptions = { window: '1m' }
  const atLeast: PolicyOptions = { limit: 5, window: '1m' }
  const nothing: Http = {}
  return [noLimit, atLeast, nothing]
}

type Options = RateLimitOptions<Request, Response>

/** Each is compiled, and none is called. */
export function ofTheRequest(): Options[] {
  const tier = ({ headers }: Request) => (headers.has('x-paid') ? 20 : 5)
  const tokens = { limit: 5, window: '1d', unit: 'tokens' } as const
  return [
    { concurrent: tier, hold: '1m' },
    { concurrent: async (request) => tier(request) },
    { limit: tier, window: 'month', anchor: async () => 31 },
    { ...tokens, cost: tier, settle: (_, response) => response.status },
    { policies: [{ concurrent: tier }, { name: 'tokens', ...tokens, cost: tier }], cost: 2 },
    { ...tokens, reserve: true, hold: '1m', cost: tier, settle: (_, { status }) => status },
    { policies: [{ ...tokens, reserve: true, cost: 5, settle: (_, { status }) => status }] },
    // @ts-expect-error: an estimate has a settle
    { ...tokens, reserve: true, cost: tier },
    // @ts-expect-error: an estimate has a settle
    { policies: [{ ...tokens, reserve: true, cost: tier }] },
    // @ts-expect-error: a slot is no estimate
    { concurrent: 5, reserve: true, settle: () => 1 },
    // @ts-expect-error: hold belongs to concurrent or reserve
    { ...tokens, reserve: false, hold: '1m', settle: () => 1 },
    // @ts-expect-error: either concurrent, or limit and window
    { concurrent: tier, ...tokens },
    // @ts-expect-error: text is no number
    { concurrent: () => '5' },
    // @ts-expect-error: the same for every request
    { concurrent: 5, hold: () => '1m' },
    // @ts-expect-error: hold belongs to concurrent
    { ...tokens, hold: '1m' },
    // @ts-expect-error: a request takes one slot
    { policies: [{ concurrent: 5, cost: 2 }] },
    // @ts-expect-error: a slot is settled by its release
    { policies: [{ concurrent: 5, settle: () => 2 }] },
    // @ts-expect-error: of the limiter, not of a policy
    { policies: [{ ...tokens, ban: { after: 3, within: '1h', for: ['1m'] } }] },
    // @ts-expect-error: the same for every request
    { ...tokens, ban: () => ({ after: 3, within: '1h', for: ['1m'] }) },
  ]
}

export function ofMistakes(): Options[] {
  return [
    // @ts-expect-error: a misspelt unit
    { limit: 1, window: '1 mnute' },
    // @ts-expect-error: a name from another library
    { limit: 1, window: '1m', algorithm: 'tokenBucket' },
    // @ts-expect-error: the default has no name
    { limit: 1, window: '1m', headers: true },
    // @ts-expect-error: a text is no body
    { limit: 1, window: '1m', respond: 'Too many requests' },
    // @ts-expect-error: clients would not wait for that
    { limit: 1, window: '1m', statusCode: 500 },
    // @ts-expect-error: a policy of its own
    { policies: [{ name: 'a', limit: 1, window: 'year' }] },
    // @ts-expect-error: not of this function either
    { limit: 1, window: () => '1 mnute' },
    // @ts-expect-error: the names of all proxies are not one of theirs
    { limit: 1, window: '1m', trustProxy: { proxies: 1, header: 'Via' } },
  ]
}

export const durations: Duration[] = [
  ...([60_000, '1m', '1 m', '1.5h', '500ms', '2 min', '1minute', '15 minutes'] as const),
  ...(['1y', '1 year', '2yrs', '1w', '2 weeks', '1d', '7 days', '1hr', '2 hours'] as const),
  ...(['1s', '2 secs', '3 seconds', '5 msec', '6 milliseconds'] as const),
]

/** To the compiler, text of a configuration is any text. */
export function ofAConfiguration(): Options[] {
  const env: Record<string, string | undefined> = {}
  const single = {
    limit: 100,
    window: env.WINDOW,
    algorithm: 'leaky-bucket',
    maxDelay: '5s',
    unit: 'requests',
    key: 'ip',
    headers: ['draft-11', 'draft-6'],
    statusCode: 503,
    onStoreError: 'deny',
    deadline: '50ms',
    respond: 'throw',
    trustProxy: { proxies: ['loopback'], header: 'Forwarded' },
    allow: ['127.0.0.1'],
    ban: { after: 3, within: '1h', for: ['1m', 600_000] },
  }
  const calendar = { limit: 5, window: 'month', timeZone: 'UTC', anchor: 31, headers: false }
  const slots = { concurrent: 5, hold: '1m', key: 'user', headers: 'legacy' }
  const estimates = { limit: 5, window: '1d', reserve: true, hold: '1m', cost: 2 }
  const several = {
    policies: [
      { name: 'burst', limit: 10, window: '1s', algorithm: 'token-bucket', burst: 20 },
      { name: 'daily', limit: 1000, window: '1d', key: 'user' },
      { name: 'in progress', concurrent: 5, hold: '1m' },
    ],
  }
  const routes = {
    'POST /login': { limit: 5, window: '15m', algorithm: 'sliding-log' },
    '/search': { policies: [{ name: 'a', limit: 1, window: '1s' }], key: 'user' },
    '/health': false,
  }
  const configs = [single, calendar, slots, estimates, several, { ...single, routes }].map(
    (config) => config as RateLimitConfig,
  )
  const withFunctions = { ...configs[0], key: ({ url }: Request) => url } as const
  // @ts-expect-error: text is no limit
  const text = { ...single, limit: env.LIMIT } as RateLimitConfig
  // @ts-expect-error: without the type, it is any text
  const untyped: Options = single
  return [...configs, text, untyped, withFunctions as Options]
}

export function inVariables(): [Options, Options, Routes<Request, Response>] {
  const constant = {
    limit: 1,
    window: '1m',
    headers: ['draft-11'],
    trustProxy: ['loopback'],
  } as const
  const satisfying = { limit: 1, window: '1m', headers: false } satisfies Options
  const routes = { '/health': false, '/': { limit: 1, window: '1m' } } as const
  return [constant, satisfying, routes]
}

/** Editors complete them: a union with `string` itself would have lost them. */
const completed: {
  duration: Same<Extract<Duration, '1m'>, '1m'>
  calendar: Same<Extract<PolicyOptions['window'], 'month'>, 'month'>
  algorithm: Same<Extract<PolicyOptions['algorithm'], 'token-bucket'>, 'token-bucket'>
  key: Same<Extract<Http['key'], 'user'>, 'user'>
  headers: Same<Extract<Http['headers'], 'draft-11'>, 'draft-11'>
  statusCode: Same<Extract<Http['statusCode'], 503>, 503>
} = {
  duration: true,
  calendar: true,
  algorithm: true,
  key: true,
  headers: true,
  statusCode: true,
}

/** The functions, and what they get. */
export function functionsGetTheKey(): Options[] {
  return [
    {
      limit: (_, key) => (key.startsWith('user:') ? 100 : 10),
      window: async (_, key) => `${key.length}m`,
      cost: (_, key) => key.length,
      skip: async (_, key) => (await key()) === 'user:1',
      respond: (_, __, response, key) => [response.status, key.length],
      onDecision: (_, __, key) => key.length,
    },
    { concurrent: (_, key) => key.length },
    { limit: 1, window: 'month', anchor: (_, key) => key.length },
    // @ts-expect-error: the key may come later
    { limit: 1, window: '1m', skip: (_, key) => key().startsWith('user:') },
    // @ts-expect-error: the key is text
    { limit: (_, key) => key + 1, window: '1m' },
  ]
}

it('is proved by the compiler', () => {
  expect(Object.values(completed)).not.toContain(false)
  expect(Object.keys(sameNames)).toHaveLength(9)
  expect(Object.keys(sameTypes.http)).toHaveLength(5)
})
