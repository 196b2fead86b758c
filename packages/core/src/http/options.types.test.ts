import { expect, it } from '@jest/globals'
import type { EventOptions } from '../limiter/event-options.generated.ts'
import type {
  ConcurrencyOptions,
  PolicyOptions,
  StoreOptions,
} from '../limiter/options.generated.ts'
import type { OPTIONS } from '../options/table.ts'
import type { OptionType } from '../options/types.ts'
import type { MemoryStoreOptions, RedisStoreOptions } from '../stores/options.generated.ts'
import type {
  HttpOptions,
  RequestConcurrencyOptions,
  RequestPolicyOptions,
} from './options.generated.ts'
import type { RateLimitOptions } from './rate-limit-options.ts'

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

it('is proved by the compiler', () => {
  expect(Object.keys(sameNames)).toHaveLength(9)
  expect(Object.keys(sameTypes.http)).toHaveLength(5)
})
