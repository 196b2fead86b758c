import { createLimiter, memoryStore, redisStore } from '@sluice/core'
import { RoutedLimiter } from '../path/routed-limiter.ts'
import type { RequestAdapter } from '../request-adapter.ts'

// Mistakes as they are written, where `…` stands for valid options.

const LIMITER = [
  '',
  "'100/m'",
  '[]',
  '{}',
  "{ limit: '5', … }",
  '{ limit: NaN, … }',
  '{ limit: -1, … }',
  '{ limit: 1.5, … }',
  '{ limit: Infinity, … }',
  '{ limit: 5n, … }',
  '{ limit: null, … }',
  '{ limit: () => 5, … }',
  "{ limit: 200_000, algorithm: 'sliding-log', … }",
  '{ limit: 10 }',
  '{ window: 0, … }',
  '{ window: 0.5, … }',
  '{ window: NaN, … }',
  "{ window: '60000', … }",
  "{ window: '1 fortnight', … }",
  "{ window: '-1m', … }",
  "{ window: '11y', … }",
  '{ window: new Date(0), … }',
  "{ window: 'year', … }",
  "{ window: 'day', timeZone: 'Berlin', … }",
  "{ window: '1d', timeZone: 'UTC', … }",
  "{ window: 'day', anchor: 1, … }",
  "{ window: 'week', anchor: 1, … }",
  "{ window: 'month', anchor: 32, … }",
  "{ window: 'month', anchor: '2026-02-29', … }",
  "{ window: 'month', algorithm: 'token-bucket', … }",
  "{ reserve: true, algorithm: 'sliding-log', … }",
  "{ hold: '1m', … }",
  '{ alertAt: [80], … }',
  "{ algorithm: 'gcra', … }",
  "{ algorithm: 'token_bucket', … }",
  '{ burst: 20, … }',
  "{ algorithm: 'token-bucket', burst: 0, … }",
  "{ algorithm: 'token-bucket', burst: '20', … }",
  "{ algorithm: 'token-bucket', burst: 10 ** 12, limit: 1, window: '1y' }",
  "{ maxDelay: '1s', … }",
  "{ algorithm: 'leaky-bucket', maxDelay: -1, … }",
  "{ algorithm: 'leaky-bucket', maxDelay: 'soon', … }",
  "{ algorithm: 'leaky-bucket', maxDelay: '1y', limit: 10 ** 12, … }",
  '{ windw: 60_000, … }',
  '{ max: 5, … }',
  "{ name: 'täglich', … }",
  "{ keySecret: 'short', … }",
  '{ policies: [] }',
  '{ policies: { … } }',
  '{ policies: [null] }',
  '{ policies: [{ … }], limit: 10 }',
  "{ policies: [{ limit: '5', … }] }",
  '{ policies: [{ limits: 5, … }] }',
  "{ policies: [{ name: '', … }] }",
  "{ policies: [{ name: 'täglich', … }] }",
  '{ policies: [{ … }, { … }] }',
  "{ policies: [{ name: 'Day', … }, { name: 'day', … }] }",
  "{ prefix: 'my api', … }",
  "{ prefix: '', … }",
  "{ deadline: '5m', … }",
  '{ deadline: 0, … }',
  "{ onStoreError: 'open', … }",
  '{ localShare: 4, … }',
  "{ localShare: '0.25', … }",
  "{ refusalCache: '1m', … }",
  "{ store: 'redis://localhost', … }",
  '{ store: null, … }',
]

const MEMORY = [
  '{ maxKeys: 0 }',
  "{ maxKeys: '1000' }",
  '{ maxKey: 1000 }',
  '1000',
  "{ clock: () => 'now' }",
  '{ clock: 0 }',
  '{ clock: () => 1_800_000_000.5 }',
]

const CALLS = [
  "createLimiter({ store: memoryStore({ maxKeys: 1 }), policies: [{ … }, { name: 'day', … }] })",
  "redisStore('redis://localhost')",
  'redisStore(client, { ttl: 60 })',
  'limiter.consume(undefined)',
  "limiter.consume('')",
  'limiter.consume(42)',
  "limiter.consume('key', 5)",
  "limiter.consume('key', { costs: 5 })",
  "limiter.consume('key', { cost: -1 })",
  "limiter.consume('key', { cost: 0.5 })",
  "limiter.consume('key', { cost: '2' })",
  'limiter.peek(null)',
  'limiter.reset(undefined)',
  "limiter.settle('key', 0.5)",
  "limiter.settle('key', -1, { source: 'redis' })",
  "limiter.settle('key', -1, { at: -1 })",
  "limiter.block('key', 'long')",
  "limiter.block('', '1m')",
  "limiter.block('0.0.0.0/0', '1h', { network: true })",
  "limiter.block('203.0.113.0/33', '1h', { network: true })",
  "limiter.override('key', { limit: '5' })",
  "limiter.override('key', { limit: -1 })",
  "limiter.override('key', { policy: 'month', limit: 5 })",
  "limiter.override('key', { limit: 5, until: 0 })",
  "limiter.grant('key', 0)",
  "limiter.grant('key', 5, { id: '' })",
  "limiter.grant('key', 5, { until: 0 })",
  "createLimiter({ algorithm: 'token-bucket', … }).grant('key', 5)",
  "createLimiter({ reserve: true, … }).consume('key')",
  "limiter.acquire('key')",
]

const ADAPTER = [
  'app.use(rateLimit)',
  "{ key: 'session', … }",
  '{ key: undefined, policies: [{ key: 5, … }] }',
  "{ cost: '2', … }",
  '{ policies: [{ cost: -1, … }] }',
  "{ settle: 'tokens', … }",
  '{ reserve: true, … }',
  '{ reserve: true, cost: 0, settle, … }',
  "{ user: 'id', … }",
  "{ skip: ['/health'], … }",
  "{ respond: 'json', … }",
  '{ onDecision: true, … }',
  '{ ipv6Prefix: 16, … }',
  "{ dryRun: 'false', … }",
  '{ statusCode: 503.5, … }',
  '{ statusCode: 418, … }',
  '{ retryAfterJitter: 2, … }',
  "{ retryAfterJitter: '10%', … }",
  '{ maxWaiting: Infinity, … }',
  "{ unit: 'token', cost: 5, … }",
  "{ unit: 'tokens', … }",
  "{ headers: 'draft-5', … }",
  '{ headers: true, … }',
  "{ headers: ['draft-7', 'draft-11'], … }",
  '{ trustProxy: true, … }',
  "{ trustProxy: 'load-balancer', … }",
  "{ allow: '10.0.0.1', … }",
  "{ deny: ['10.0.0.0/33'], … }",
  "{ partitionSecret: 'secret', … }",
  "{ routes: ['/login'], … }",
  '{ routes: { login: false }, … }',
  "{ routes: { 'FETCH /login': false }, … }",
  "{ routes: { '/login': true }, … }",
  "{ routes: { '/login': { limit: '5' } }, … }",
  "{ routes: { '/login': { store: redis } }, … }",
  '{ keyGenerator: fn, … }',
  '{ windowMs: 60_000, … }',
  "{ allowList: ['10.0.0.1'], … }",
  '{ skipOnError: true, … }',
  "{ routes: { '/login': { max: 5 } }, … }",
  '{ cost: 11, … }',
]

const answer = async () => []
const adapter = {} as RequestAdapter<unknown, unknown>
const closed = (options: never) => {
  const limiter = createLimiter(options) as ReturnType<typeof createLimiter>
  limiter.close()
  return limiter
}

/** What the mistakes name. */
const SCOPE = {
  ok: { limit: 10, window: '1m' },
  createLimiter: closed,
  limiter: closed({ limit: 10, window: '1m' } as never),
  memoryStore,
  redisStore,
  client: { evalsha: answer, evalshaBuffer: answer, eval: answer, status: 'ready' },
  rateLimit: (options: never) => new RoutedLimiter(options, adapter),
  // A framework calls what it is given with an object of a class.
  app: {
    use: (middleware: (request: never) => unknown) => middleware(new URL('http://a') as never),
  },
  redis: {},
  fn: () => 'key',
  settle: () => 0,
}

function run(written: string): unknown {
  const complete = written
    .replace(/\{ … \}/g, 'ok')
    .replace(/^(\w+\()\{ (.*), … \}\)$/, '$1{ ...ok, $2 })')
    .replace(/\{ ([^{}]*), … \}/g, '{ ...ok, $1 }')
  return new Function(...Object.keys(SCOPE), `return ${complete}`)(...Object.values(SCOPE))
}

/** Calls that each throw a SluiceError, as they are written: the examples of docs/errors.md. */
export const misuses = [
  ...LIMITER.map((given) => `createLimiter(${given})`),
  ...MEMORY.map((given) => `memoryStore(${given})`),
  ...CALLS,
  ...ADAPTER.map((given) => (given.startsWith('{') ? `rateLimit(${given})` : given)),
].map((written) => [written, () => run(written)] as const)
