import { inspect } from 'node:util'

/** What other limiters call an option, as a function of its value, or as text. */
type Here = string | ((value: unknown) => string)

const as = (option: string) => (value: unknown) => `${option}: ${inspect(value)}`

/** Numbers of those in ms are durations here as they are. */
const asLimit: Here = (value) => (typeof value === 'number' ? as('limit')(value) : 'limit')
const asWindow: Here = (value) => {
  if (typeof value === 'string') return as('window')(value)
  return Number.isInteger(value) ? `window: ${grouped(value as number)}` : 'window'
}
const asKey: Here = "key: 'ip', 'user' or (request) => text"
const asOnStoreError: Here = "onStoreError: 'local' (the default), 'allow' or 'deny'"
const asRespond: Here = "respond: (decision, request, response) => …, or 'throw'"
const asStore: Here = 'store: the client of ioredis or node-redis itself'
const asHeaders: Here = "headers: 'draft-11', 'draft-6', 'legacy' … or false"
const asSettle: Here = 'settle: (request, response) => the actual cost'

/**
 * The options of express-rate-limit, express-slow-down, @fastify/rate-limit, koa-ratelimit,
 * rate-limiter-flexible and @nestjs/throttler, and what they are called here.
 */
const HERE: Readonly<Record<string, Here>> = {
  max: asLimit,
  points: asLimit,
  windowMs: asWindow,
  timeWindow: asWindow,
  ttl: asWindow,
  duration: "window: ms, or text such as '1m'",
  keyGenerator: asKey,
  getTracker: asKey,
  id: asKey,
  ipv6Subnet: as('ipv6Prefix'),
  allowList: 'allow: addresses, CIDRs and keys; for a function, skip',
  whitelist: 'allow: addresses, CIDRs and keys; for a function, skip',
  blacklist: 'deny: addresses, CIDRs and keys',
  skipIf: 'skip',
  skipOnError: asOnStoreError,
  passOnStoreError: asOnStoreError,
  insuranceLimiter: asOnStoreError,
  timeout: 'deadline',
  skipSuccessfulRequests: asSettle,
  skipFailedRequests: asSettle,
  requestWasSuccessful: asSettle,
  message: asRespond,
  handler: asRespond,
  errorMessage: asRespond,
  errorResponseBuilder: asRespond,
  throw: "respond: 'throw'",
  status: 'statusCode: 429 or 503',
  standardHeaders: asHeaders,
  legacyHeaders: asHeaders,
  enableDraftSpec: asHeaders,
  addHeaders: asHeaders,
  disableHeader: 'headers: false',
  redis: asStore,
  driver: asStore,
  db: asStore,
  storeClient: asStore,
  cache: 'store: memoryStore({ maxKeys })',
  nameSpace: as('prefix'),
  namespace: as('prefix'),
  keyPrefix: as('prefix'),
  identifier: "policies: [{ name, limit, window }], with this as the policy's name",
  onLimited: 'onDecision, for every decision',
  onExceeded: 'onDecision, for every decision',
  onExceeding: 'onDecision, for every decision',
  ban: 'limiter.block(key, duration), from onDecision',
  blockDuration: 'limiter.block(key, duration), from onDecision',
  execEvenly: "algorithm: 'leaky-bucket'",
  delayMs: "algorithm: 'leaky-bucket', with maxDelay",
  delayAfter: "algorithm: 'leaky-bucket', with maxDelay",
}

/** What an option of another limiter is called here, with its value where that can stay. */
export function hereInsteadOf(option: string, value: unknown): string | undefined {
  const here = Object.hasOwn(HERE, option) ? HERE[option] : undefined
  return typeof here === 'function' ? here(value) : here
}

/** `60_000`, as one writes it. */
function grouped(integer: number): string {
  return String(integer).replace(/\B(?=(\d{3})+$)/g, '_')
}
