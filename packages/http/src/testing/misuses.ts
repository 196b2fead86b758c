import { createLimiter, type LimiterOptions, memoryStore, redisStore } from '@sluice/core'
import { RoutedLimiter } from '../path/routed-limiter.ts'
import type { RequestAdapter } from '../request-adapter.ts'

const m = { window: '1m' }
const ok = { limit: 10, window: '1m' }
const tokens = { ...ok, algorithm: 'token-bucket' }
const queue = { ...ok, algorithm: 'leaky-bucket' }
const estimates = { ...ok, reserve: true }
const named = (name: unknown) => ({ ...ok, name })

/** A mistake as it is written, and the options that it stands for. */
type Case = readonly [written: string, given: unknown]

const LIMITER: readonly Case[] = [
  ['createLimiter()', undefined],
  ["createLimiter('100/m')", '100/m'],
  ['createLimiter([])', []],
  ['{}', {}],
  ["{ limit: '5', … }", { ...m, limit: '5' }],
  ['{ limit: NaN, … }', { ...m, limit: Number.NaN }],
  ['{ limit: -1, … }', { ...m, limit: -1 }],
  ['{ limit: 1.5, … }', { ...m, limit: 1.5 }],
  ['{ limit: Infinity, … }', { ...m, limit: Number.POSITIVE_INFINITY }],
  ['{ limit: 5n, … }', { ...m, limit: 5n }],
  ['{ limit: null, … }', { ...m, limit: null }],
  ['{ limit: () => 5, … }', { ...m, limit: () => 5 }],
  [
    "{ limit: 200_000, algorithm: 'sliding-log', … }",
    { ...m, limit: 2e5, algorithm: 'sliding-log' },
  ],
  ['{ limit: 10 }', { limit: 10 }],
  ['{ window: 0, … }', { ...ok, window: 0 }],
  ['{ window: 0.5, … }', { ...ok, window: 0.5 }],
  ['{ window: NaN, … }', { ...ok, window: Number.NaN }],
  ["{ window: '60000', … }", { ...ok, window: '60000' }],
  ["{ window: '1 fortnight', … }", { ...ok, window: '1 fortnight' }],
  ["{ window: '-1m', … }", { ...ok, window: '-1m' }],
  ["{ window: '11y', … }", { ...ok, window: '11y' }],
  ['{ window: new Date(0), … }', { ...ok, window: new Date(0) }],
  ["{ window: 'year', … }", { ...ok, window: 'year' }],
  ["{ window: 'day', timeZone: 'Berlin', … }", { limit: 10, window: 'day', timeZone: 'Berlin' }],
  ["{ window: '1d', timeZone: 'UTC', … }", { limit: 10, window: '1d', timeZone: 'UTC' }],
  ["{ window: 'day', anchor: 1, … }", { limit: 10, window: 'day', anchor: 1 }],
  ["{ window: 'week', anchor: 1, … }", { limit: 10, window: 'week', anchor: 1 }],
  ["{ window: 'month', anchor: 32, … }", { limit: 10, window: 'month', anchor: 32 }],
  [
    "{ window: 'month', anchor: '2026-02-29', … }",
    { limit: 10, window: 'month', anchor: '2026-02-29' },
  ],
  [
    "{ window: 'month', algorithm: 'token-bucket', … }",
    { limit: 10, window: 'month', algorithm: 'token-bucket' },
  ],
  [
    "{ reserve: true, algorithm: 'sliding-log', … }",
    { ...ok, reserve: true, algorithm: 'sliding-log' },
  ],
  ["{ hold: '1m', … }", { ...ok, hold: '1m' }],
  ['{ alertAt: [80], … }', { ...ok, alertAt: [80] }],
  ["{ algorithm: 'gcra', … }", { ...ok, algorithm: 'gcra' }],
  ["{ algorithm: 'token_bucket', … }", { ...ok, algorithm: 'token_bucket' }],
  ['{ burst: 20, … }', { ...ok, burst: 20 }],
  ["{ algorithm: 'token-bucket', burst: 0, … }", { ...tokens, burst: 0 }],
  ["{ algorithm: 'token-bucket', burst: '20', … }", { ...tokens, burst: '20' }],
  [
    "{ algorithm: 'token-bucket', burst: 10 ** 12, limit: 1, window: '1y' }",
    { ...tokens, burst: 1e12, limit: 1, window: '1y' },
  ],
  ["{ maxDelay: '1s', … }", { ...ok, maxDelay: '1s' }],
  ["{ algorithm: 'leaky-bucket', maxDelay: -1, … }", { ...queue, maxDelay: -1 }],
  ["{ algorithm: 'leaky-bucket', maxDelay: 'soon', … }", { ...queue, maxDelay: 'soon' }],
  [
    "{ algorithm: 'leaky-bucket', maxDelay: '1y', limit: 10 ** 12, … }",
    { ...queue, maxDelay: '1y', limit: 1e12 },
  ],
  ['{ windw: 60_000, … }', { limit: 10, windw: 60_000 }],
  ['{ max: 5, … }', { ...m, max: 5 }],
  ["{ name: 'täglich', … }", named('täglich')],
  ["{ keySecret: 'short', … }", { ...ok, keySecret: 'short' }],
  ['{ policies: [] }', { policies: [] }],
  ['{ policies: { … } }', { policies: ok }],
  ['{ policies: [null] }', { policies: [null] }],
  ['{ policies: [{ … }], limit: 10 }', { policies: [ok], limit: 10 }],
  ["{ policies: [{ limit: '5', … }] }", { policies: [{ ...m, limit: '5' }] }],
  ['{ policies: [{ limits: 5, … }] }', { policies: [{ ...m, limits: 5 }] }],
  ["{ policies: [{ name: '', … }] }", { policies: [named('')] }],
  ["{ policies: [{ name: 'täglich', … }] }", { policies: [named('täglich')] }],
  ['{ policies: [{ … }, { … }] }', { policies: [ok, ok] }],
  [
    "{ policies: [{ name: 'Day', … }, { name: 'day', … }] }",
    { policies: [named('Day'), named('day')] },
  ],
  ["{ prefix: 'my api', … }", { ...ok, prefix: 'my api' }],
  ["{ prefix: '', … }", { ...ok, prefix: '' }],
  ["{ deadline: '5m', … }", { ...ok, deadline: '5m' }],
  ['{ deadline: 0, … }', { ...ok, deadline: 0 }],
  ["{ onStoreError: 'open', … }", { ...ok, onStoreError: 'open' }],
  ['{ localShare: 4, … }', { ...ok, localShare: 4 }],
  ["{ localShare: '0.25', … }", { ...ok, localShare: '0.25' }],
  ["{ refusalCache: '1m', … }", { ...ok, refusalCache: '1m' }],
  ["{ store: 'redis://localhost', … }", { ...ok, store: 'redis://localhost' }],
  ['{ store: null, … }', { ...ok, store: null }],
]

const MEMORY: readonly Case[] = [
  ['memoryStore({ maxKeys: 0 })', { maxKeys: 0 }],
  ["memoryStore({ maxKeys: '1000' })", { maxKeys: '1000' }],
  ['memoryStore({ maxKey: 1000 })', { maxKey: 1000 }],
  ['memoryStore(1000)', 1000],
  ["memoryStore({ clock: () => 'now' })", { clock: () => 'now' }],
  ['memoryStore({ clock: 0 })', { clock: 0 }],
  ['memoryStore({ clock: () => Date.now() / 1000 })', { clock: () => 1_800_000_000.5 }],
]

const answer = async () => []
const client = { evalsha: answer, evalshaBuffer: answer, eval: answer, status: 'ready' }

const CALLS: readonly (readonly [written: string, call: () => unknown])[] = [
  [
    'createLimiter({ store: memoryStore({ maxKeys: 1 }), policies: [{ … }, { … }] })',
    () =>
      createLimiter({
        store: memoryStore({ maxKeys: 1 }),
        policies: [
          { name: 'burst', limit: 10, window: '1s' },
          { name: 'day', limit: 1000, window: '1d' },
        ],
      }),
  ],
  ["redisStore('redis://localhost')", () => redisStore('redis://localhost' as never)],
  ['redisStore(client, { ttl: 60 })', () => redisStore(client, { ttl: 60 } as never)],
  ['limiter.consume(undefined)', () => limiter().consume(undefined as never)],
  ["limiter.consume('')", () => limiter().consume('')],
  ['limiter.consume(42)', () => limiter().consume(42 as never)],
  ["limiter.consume('key', 5)", () => limiter().consume('key', 5 as never)],
  ["limiter.consume('key', { costs: 5 })", () => limiter().consume('key', { costs: 5 } as never)],
  ["limiter.consume('key', { cost: -1 })", () => limiter().consume('key', { cost: -1 })],
  ["limiter.consume('key', { cost: 0.5 })", () => limiter().consume('key', { cost: 0.5 })],
  ["limiter.consume('key', { cost: '2' })", () => limiter().consume('key', { cost: '2' as never })],
  ['limiter.peek(null)', () => limiter().peek(null as never)],
  ['limiter.reset(undefined)', () => limiter().reset(undefined as never)],
  ["limiter.settle('key', 0.5)", () => limiter().settle('key', 0.5)],
  [
    "limiter.settle('key', -1, { source: 'redis' })",
    () => limiter().settle('key', -1, { source: 'redis' as never }),
  ],
  ["limiter.settle('key', -1, { at: -1 })", () => limiter().settle('key', -1, { at: -1 })],
  ["limiter.block('key', 'long')", () => limiter().block('key', 'long' as never)],
  ["limiter.block('', '1m')", () => limiter().block('', '1m')],
  [
    "limiter.block('0.0.0.0/0', '1h', { network: true })",
    () => limiter().block('0.0.0.0/0', '1h', { network: true }),
  ],
  [
    "limiter.block('203.0.113.0/33', '1h', { network: true })",
    () => limiter().block('203.0.113.0/33', '1h', { network: true }),
  ],
  [
    "limiter.override('key', { limit: '5' })",
    () => limiter().override('key', { limit: '5' as never }),
  ],
  ["limiter.override('key', { limit: -1 })", () => limiter().override('key', { limit: -1 })],
  [
    "limiter.override('key', { policy: 'month', limit: 5 })",
    () => limiter().override('key', { policy: 'month', limit: 5 }),
  ],
  [
    "limiter.override('key', { limit: 5, until: 0 })",
    () => limiter().override('key', { limit: 5, until: 0 }),
  ],
  ["limiter.grant('key', 0)", () => limiter().grant('key', 0)],
  ["limiter.grant('key', 5, { id: '' })", () => limiter().grant('key', 5, { id: '' })],
  ["limiter.grant('key', 5, { until: 0 })", () => limiter().grant('key', 5, { until: 0 })],
  [
    "createLimiter({ algorithm: 'token-bucket', … }).grant('key', 5)",
    () => made(tokens).grant('key', 5),
  ],
  ["createLimiter({ reserve: true, … }).consume('key')", () => made(estimates).consume('key')],
  ["limiter.acquire('key')", () => limiter().acquire('key')],
]

/** A framework calls `rateLimit` with an object of this class. */
class IncomingMessage {}

const ADAPTER: readonly Case[] = [
  ['app.use(rateLimit)', new IncomingMessage()],
  ["{ key: 'session', … }", { ...ok, key: 'session' }],
  ['{ key: undefined, policies: [{ key: 5, … }] }', { policies: [{ ...ok, key: 5 }] }],
  ["{ cost: '2', … }", { ...ok, cost: '2' }],
  ['{ policies: [{ cost: -1, … }] }', { policies: [{ ...ok, cost: -1 }] }],
  ["{ settle: 'tokens', … }", { ...ok, settle: 'tokens' }],
  ['{ reserve: true, … }', estimates],
  ['{ reserve: true, cost: 0, settle, … }', { ...estimates, cost: 0, settle: () => 0 }],
  ["{ user: 'id', … }", { ...ok, user: 'id' }],
  ["{ skip: ['/health'], … }", { ...ok, skip: ['/health'] }],
  ["{ respond: 'json', … }", { ...ok, respond: 'json' }],
  ['{ onDecision: true, … }', { ...ok, onDecision: true }],
  ['{ ipv6Prefix: 16, … }', { ...ok, ipv6Prefix: 16 }],
  ["{ dryRun: 'false', … }", { ...ok, dryRun: 'false' }],
  ['{ statusCode: 503.5, … }', { ...ok, statusCode: 503.5 }],
  ['{ statusCode: 418, … }', { ...ok, statusCode: 418 }],
  ['{ retryAfterJitter: 2, … }', { ...ok, retryAfterJitter: 2 }],
  ["{ retryAfterJitter: '10%', … }", { ...ok, retryAfterJitter: '10%' }],
  ['{ maxWaiting: Infinity, … }', { ...ok, maxWaiting: Number.POSITIVE_INFINITY }],
  ["{ unit: 'token', cost: 5, … }", { ...ok, unit: 'token', cost: 5 }],
  ["{ unit: 'tokens', … }", { ...ok, unit: 'tokens' }],
  ["{ headers: 'draft-5', … }", { ...ok, headers: 'draft-5' }],
  ['{ headers: true, … }', { ...ok, headers: true }],
  ["{ headers: ['draft-7', 'draft-11'], … }", { ...ok, headers: ['draft-7', 'draft-11'] }],
  ['{ trustProxy: true, … }', { ...ok, trustProxy: true }],
  ["{ trustProxy: 'load-balancer', … }", { ...ok, trustProxy: 'load-balancer' }],
  ["{ allow: '10.0.0.1', … }", { ...ok, allow: '10.0.0.1' }],
  ["{ deny: ['10.0.0.0/33'], … }", { ...ok, deny: ['10.0.0.0/33'] }],
  ["{ partitionSecret: 'secret', … }", { ...ok, partitionSecret: 'secret' }],
  ["{ routes: ['/login'], … }", { ...ok, routes: ['/login'] }],
  ['{ routes: { login: false }, … }', { ...ok, routes: { login: false } }],
  ["{ routes: { 'FETCH /login': false }, … }", { ...ok, routes: { 'FETCH /login': false } }],
  ["{ routes: { '/login': true }, … }", { ...ok, routes: { '/login': true } }],
  ["{ routes: { '/login': { limit: '5' } }, … }", { ...ok, routes: { '/login': { limit: '5' } } }],
  ["{ routes: { '/login': { store: redis } }, … }", { ...ok, routes: { '/login': { store: 1 } } }],
  ['{ keyGenerator: fn, … }', { ...ok, keyGenerator: () => 'key' }],
  ['{ windowMs: 60_000, … }', { ...ok, windowMs: 60_000 }],
  ["{ allowList: ['10.0.0.1'], … }", { ...ok, allowList: ['10.0.0.1'] }],
  ['{ skipOnError: true, … }', { ...ok, skipOnError: true }],
  ["{ routes: { '/login': { max: 5 } }, … }", { ...ok, routes: { '/login': { max: 5 } } }],
  ['{ cost: 11, … }', { ...ok, cost: 11 }],
]

function made(options: object) {
  const limiter = createLimiter(options as LimiterOptions<'sync'>)
  limiter.close()
  return limiter
}

const limiter = () => made({ limit: 10, window: '1m' })

const adapter = {} as RequestAdapter<unknown, unknown>

/** `{ … }` as the argument of a call. */
function argument(of: string, written: string): string {
  return written.startsWith('{') ? `${of}(${written})` : written
}

/** Calls that each throw a SluiceError, as they are written: the examples of docs/errors.md. */
export const misuses: readonly (readonly [written: string, call: () => unknown])[] = [
  ...LIMITER.map(
    ([written, given]) =>
      [argument('createLimiter', written), () => createLimiter(given as never)] as const,
  ),
  ...MEMORY.map(([written, given]) => [written, () => memoryStore(given as never)] as const),
  ...CALLS,
  ...ADAPTER.map(
    ([written, given]) =>
      [argument('rateLimit', written), () => new RoutedLimiter(given as never, adapter)] as const,
  ),
]
