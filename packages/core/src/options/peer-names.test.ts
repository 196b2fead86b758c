import { expect, test } from '@jest/globals'
import { checkKnown } from './known.ts'
import { OPTION_NAMES } from './option-names.ts'
import { hereInsteadOf } from './peer-names.ts'

test.each([
  ['max', 5, 'limit: 5'],
  ['max', () => 5, 'limit'],
  ['points', 10, 'limit: 10'],
  ['windowMs', 60_000, 'window: 60_000'],
  ['windowMs', 900, 'window: 900'],
  ['windowMs', 86_400_000, 'window: 86_400_000'],
  ['timeWindow', '1 minute', "window: '1 minute'"],
  ['timeWindow', () => 5, 'window'],
  ['nameSpace', 'may be a secret', 'prefix'],
  ['throw', true, "respond: 'throw'"],
])('%s: %p is %s here', (option, value, here) => {
  expect(hereInsteadOf(option, value)).toBe(here)
})

test.each(['keyGenerator', 'allowList', 'skipOnError', 'errorResponseBuilder', 'duration'])(
  '%s has a name here',
  (option) => {
    expect(hereInsteadOf(option, undefined)).toBeDefined()
  },
)

test.each(['limt', 'constructor', 'toString', '__proto__'])('%s is no such name', (option) => {
  expect(hereInsteadOf(option, 5)).toBeUndefined()
})

/** Every option of other limiters, in the versions that are in use, by package. */
const THERE = {
  'express-rate-limit 5 to 8':
    'delayAfter delayMs draft_polli_ratelimit_headers handler headers identifier ipv6Subnet keyGenerator legacyHeaders limit logger max message onLimitReached passOnStoreError requestPropertyName requestWasSuccessful retryAfter skip skipFailedRequests skipSuccessfulRequests standardHeaders statusCode store validate windowMs',
  'express-slow-down 1 to 3':
    'delayAfter delayMs headers keyGenerator maxDelayMs onLimitReached requestPropertyName requestWasSuccessful skip skipFailedRequests skipSuccessfulRequests store validate windowMs',
  '@fastify/rate-limit 5 to 11':
    'addHeaders addHeadersOnExceeding allowList ban cache continueExceeding enableDraftSpec errorResponseBuilder exponentialBackoff global groupId hook ipv6Subnet keyGenerator max nameSpace onBanReach onExceeded onExceeding redis skipOnError store timeWindow whitelist',
  'koa-ratelimit 4 to 6':
    'blacklist db disableHeader driver duration errorMessage headers id max namespace onLimited remaining reset status throw total whitelist',
  '@nestjs/throttler 4 to 6':
    'blockDuration errorMessage generateKey getTracker ignoreUserAgents ipv6SubnetPrefix limit name setHeaders skipIf storage throttlers ttl',
  'rate-limiter-flexible 2 to 11':
    'blackList blockDuration clearExpiredByTimeout customFunction customFunctionLibName customIncrTtlLuaScript dbName disableIndexesCreation duration dynamoTableOpts execEvenly execEvenlyMinDelayMs inMemoryBlockDuration inMemoryBlockOnConsumed indexKeyPrefix inmemoryBlockDuration inmemoryBlockOnConsumed insuranceLimiter isBlackListed isWhiteListed keyPrefix limiter maxQueueSize points rejectIfRedisNotReady rejectIfValkeyNotReady runActionAnyway schema schemaName storeClient storeType tableCreated tableName timeoutMs ttlSet useRedis3AndLowerPackage useRedisPackage whiteList',
  'hono-rate-limiter 0.4 and 0.5':
    'binding handler keyGenerator limit message requestPropertyName requestStorePropertyName requestWasSuccessful skip skipFailedRequests skipSuccessfulRequests standardHeaders statusCode store windowMs',
  '@upstash/ratelimit 1 and 2':
    'analytics cacheScripts denyListThreshold dynamicLimits enableProtection enableTelemetry ephemeralCache limiter prefix redis timeout',
}

/** The names that have no hint, by the reason. Few write them, and the list of options is answer enough. */
const WITHOUT_HINT = {
  'of a table or an index of the store, which has options of its own':
    'clearExpiredByTimeout dbName disableIndexesCreation dynamoTableOpts indexKeyPrefix schema schemaName tableCreated tableName ttlSet',
  'of the kind of client, which is found out': 'storeType useRedis3AndLowerPackage useRedisPackage',
  'of the script, which is Sluice own':
    'cacheScripts customFunction customFunctionLibName customIncrTtlLuaScript',
  'of a service that is none of Sluice': 'binding denyListThreshold dynamicLimits enableTelemetry',
  'names of header fields, in `headers` of koa-ratelimit': 'remaining reset total',
  'details of an option that has a hint':
    'execEvenlyMinDelayMs inmemoryBlockDuration inmemoryBlockOnConsumed isBlackListed isWhiteListed rejectIfRedisNotReady rejectIfValkeyNotReady requestStorePropertyName runActionAnyway',
}

const namesOf = (lists: Readonly<Record<string, string>>) => [
  ...new Set(Object.values(lists).flatMap((each) => each.split(' '))),
]
const withoutHint = namesOf(WITHOUT_HINT)
const own: readonly string[] = OPTION_NAMES.http
const foreign = namesOf(THERE).filter((name) => !own.includes(name) && name !== 'hook')
const fixOf = (name: string) => {
  try {
    checkKnown('', { [name]: 5 }, OPTION_NAMES.http)
    return undefined
  } catch (error) {
    return (error as { fix: string }).fix
  }
}

test.each(foreign.filter((name) => !withoutHint.includes(name)))(
  '%s, of another limiter: the error says what to write, or why to remove it',
  (name) => {
    expect(fixOf(name)).toMatch(/^(Write|Remove it:) .{8,}\.$/)
  },
)

test('names without a hint are of other limiters, and have none', () => {
  expect(withoutHint.filter((name) => !foreign.includes(name))).toEqual([])
  for (const name of withoutHint) expect(fixOf(name)).toMatch(/^Remove it or correct its name/)
})
