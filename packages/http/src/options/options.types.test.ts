import { expect, it } from '@jest/globals'
import type {
  Duration,
  EventOptions,
  LimiterOptions,
  MemoryStoreOptions,
  PolicyOptions,
  RedisStoreOptions,
} from '@sluice/core'
import type { OPTIONS, StoreOptions } from '@sluice/core/internal'
import type { OptionType } from '../../../core/src/options/types.ts'
import { RoutedLimiter } from '../path/routed-limiter.ts'
import { plain } from '../testing/plain-server.ts'
import type { RateLimitOptions, RequestPolicyOptions } from './options.generated.ts'
import type { RateLimitConfig, Routes } from './rate-limit-options.ts'

// The interfaces are written from the table: the compiler proves here that they agree, both ways.

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
type Table = typeof OPTIONS
type Http = RateLimitOptions<Request, Response>
type Policies = Table['policy'] & Table['concurrency']
type Limiters = Omit<Policies, 'dryRun'> & Table['policies'] & Table['store'] & Table['events']

/** The compiled form of an option, for those that stay as the user wrote them. */
type Checked<O> = O extends { type: OptionType<infer T> } ? T : never

const sameNames: {
  policy: Same<keyof PolicyOptions, keyof Policies>
  requestPolicy: Same<
    keyof RequestPolicyOptions<Request, Response>,
    keyof Policies | keyof Table['requestPolicy']
  >
  store: Same<keyof StoreOptions, keyof Table['store']>
  limiter: Same<keyof LimiterOptions, keyof Limiters>
  events: Same<keyof EventOptions, keyof Table['events']>
  http: Same<keyof Http, keyof Limiters | keyof Table['http'] | keyof Table['requestPolicy']>
  memoryStore: Same<keyof MemoryStoreOptions, keyof Table['memoryStore']>
  redisStore: Same<keyof RedisStoreOptions, keyof Table['redisStore']>
} = {
  policy: true,
  requestPolicy: true,
  store: true,
  limiter: true,
  events: true,
  http: true,
  memoryStore: true,
  redisStore: true,
}

type PlainName = 'ipv6Prefix' | 'retryAfterJitter' | 'partitionSecret' | 'statusCode' | 'dryRun'
type PlainStoreName = 'prefix' | 'onStoreError' | 'localShare' | 'refusalCache'

const sameTypes: {
  limit: Same<Required<PolicyOptions>['limit'], Checked<Table['policy']['limit']>>
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

type Options = RateLimitOptions<Request, Response>

/** An application passes options on, some of them or all, and has types of its own. */
export function wrapped(
  some: Partial<Options>,
  others: Omit<Options, 'limit'>,
  [all]: ConstructorParameters<typeof RoutedLimiter<Request, Response>>,
): Options[] {
  interface Own extends Options {
    team: string
  }
  const { team, ...own }: Own = { limit: 5, window: '1m', team: 'search' }
  return [{ limit: 15, window: '5m', ...some }, { ...others, limit: team.length }, all, own]
}

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
    // @ts-expect-error: text is no number
    { concurrent: () => '5' },
    // @ts-expect-error: the same for every request
    { concurrent: 5, hold: () => '1m' },
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
  const text = { ...single, limit: String(env.LIMIT) } as RateLimitConfig
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

const window = '1m'
const policy = { limit: 5, window } as const
const estimates = { ...policy, reserve: true, cost: 2 } as const
const ESTIMATE = 'reserve: Give cost the estimate, and let settle return what the request has cost.'
const NOTHING = "limit: Write limit: 100 and window: '1m'."
const HOLD = 'hold: Remove hold, or set concurrent or reserve.'

/** The types are plain, so that they can be wrapped. What options need of each other, only construction says. */
const CONTRADICTIONS: readonly (readonly [options: Options, line: string])[] = [
  [{}, NOTHING],
  [{ limit: 5 }, "window: Write window: '1m' or window: 60_000 for a minute."],
  [{ window }, NOTHING],
  [{ ...policy, limit: undefined }, NOTHING],
  [{ ...policy, window: undefined }, "window: Write window: '1m' or window: 60_000 for a minute."],
  [{ policies: [{ limit: 5 }] }, "policies[0].window: Write policies[0].window: '1m'"],
  [{ ...policy, concurrent: 3 }, 'limit: Remove limit, or give it to a policy of its own.'],
  [{ window, concurrent: 3 }, 'window: Remove window, or give it to a policy of its own.'],
  [{ concurrent: 3, algorithm: 'sliding-log' }, 'algorithm: Remove algorithm, or give it'],
  [{ concurrent: 3, unit: 'tokens' }, 'unit: Remove unit, or give it to a policy of its own.'],
  [{ concurrent: 3, reserve: true }, 'reserve: Remove reserve, or give it to a policy of its own.'],
  [{ policies: [{ concurrent: 3, cost: 2 }] }, 'policies[0].cost: Remove cost, or give it'],
  [{ policies: [{ concurrent: 3, settle: () => 2 }] }, 'policies[0].settle: Remove settle, or'],
  [{ policies: [{ ...policy, concurrent: 3 }] }, 'policies[0].limit: Remove limit, or give it'],
  [{ hold: '1m' }, HOLD],
  [{ ...policy, hold: '1m' }, HOLD],
  [{ ...policy, reserve: false, hold: '1m', settle: () => 1 }, HOLD],
  [estimates, ESTIMATE],
  [{ policies: [estimates] }, `policies[0].${ESTIMATE}`],
  [{ ...policy, policies: [policy] }, 'limit: Move limit into an entry of policies.'],
  [{ concurrent: 3, policies: [policy] }, 'concurrent: Move concurrent into an entry of policies.'],
]

it.each(CONTRADICTIONS)('of %j, construction says what to write', (options, line) => {
  const made = () => new RoutedLimiter(options as never, plain)
  expect(made).toThrow(line)
})

it('is proved by the compiler', () => {
  expect(Object.values(completed)).not.toContain(false)
  expect(Object.keys(sameNames)).toHaveLength(8)
  expect(Object.keys(sameTypes.http)).toHaveLength(5)
})
