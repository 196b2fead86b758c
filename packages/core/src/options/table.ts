import { MAX_LIMIT } from '../algorithms/algorithm.ts'
import { ALGORITHM_NAMES, DEFAULT_ALGORITHM } from '../algorithms/index.ts'
import type { Options } from './option.ts'
import {
  anchor,
  boolean,
  callback,
  clock,
  duration,
  durationOrCalendar,
  integer,
  oneOf,
  oneOfOrFunction,
  secret,
  share,
  shares,
  special,
  text,
  timeZone,
} from './types.ts'
import { unit } from './unit.ts'

/**
 * The options of a policy that counts in a window. Set in the options themselves for a single policy, or in an entry of
 * `policies`. Options that only some algorithms have are those that the registry of algorithms
 * names; their defaults are there too.
 */
const policy = {
  name: {
    type: shortName('Choose a short name such as burst: header fields contain it.'),
    default: 'default',
    onlyInPolicies: true,
  },
  limit: {
    type: integer(0, Number.MAX_SAFE_INTEGER, 'units'),
    required: true,
    perRequest: true,
    aliases: 'max points',
    peers: { "limit: 10, window: '10s'": 'limiter' },
  },
  window: {
    type: durationOrCalendar(),
    required: true,
    perRequest: duration(),
    aliases: 'windowMs timeWindow ttl',
    peers: { "window: ms, or text such as '1m'": 'duration' },
  },
  timeZone: { type: timeZone },
  anchor: { type: anchor, perRequest: true },
  algorithm: {
    type: oneOf(ALGORITHM_NAMES, 'AlgorithmName'),
    default: DEFAULT_ALGORITHM,
    peers: {
      "algorithm: 'leaky-bucket', with maxDelay": 'delayMs delayAfter',
      "algorithm: 'leaky-bucket'": 'execEvenly',
    },
  },
  burst: { type: integer(1, MAX_LIMIT, 'units') },
  maxDelay: { type: duration(0), aliases: 'maxDelayMs' },
  unit: { type: unit, default: 'requests' },
  alertAt: { type: shares },
  reserve: { type: boolean, default: false },
  dryRun: { type: boolean, onlyInPolicies: true },
  enforce: { type: share('from 0 to 1') },
  live: { type: special },
} satisfies Options

/** The options of a policy that counts what is in use at the same time, instead of the others. */
const concurrency = {
  concurrent: { type: integer(0, 1000, 'requests'), required: true, perRequest: true },
  hold: { type: duration(1000, 3_600_000), default: '30s' },
} satisfies Options

/**
 * The options by which a policy reads a request and its response. Set for all policies of a limiter, or in an
 * entry of `policies`.
 */
const requestPolicy = {
  key: {
    type: oneOfOrFunction(['ip', 'user'], '(request) => text or a number'),
    default: 'ip',
    inPolicies: true,
    peers: { "key: 'ip', 'user' or (request) => text": 'keyGenerator getTracker generateKey id' },
  },
  shard: { type: callback('(request) => text or a number'), inPolicies: true },
  cost: {
    type: integer(0, Number.MAX_SAFE_INTEGER, 'units'),
    default: 1,
    perRequest: true,
    inPolicies: true,
  },
  settle: {
    type: callback('(request, response) => cost'),
    inPolicies: true,
    peers: {
      'settle: (request, response) => the actual cost':
        'skipSuccessfulRequests skipFailedRequests requestWasSuccessful',
    },
  },
} satisfies Options

/** The options for several policies: its type is that of the entries. */
const policies = {
  policies: {
    type: special,
    peers: { 'policies: [{ name, limit, window }]': 'identifier throttlers' },
  },
} satisfies Options

/** The options for the store, for its failures, and for waiting. */
const store = {
  store: {
    type: special,
    perRoute: false,
    peers: {
      'store: the client of Redis or Valkey itself': 'redis driver db storeClient storage',
      'store: memoryStore({ maxKeys })': 'cache',
    },
  },
  prefix: {
    type: text(
      /^[\w.:-]{1,64}$/,
      '1 to 64 letters (A-Z, a-z), digits and . _ : -',
      "Choose a namespace such as 'my-api'.",
    ),
    default: 'sluice',
    perRoute: false,
    aliases: 'nameSpace namespace keyPrefix',
  },
  ban: {
    type: special,
    peers: { "ban: { after: 10, within: '1m', for: ['10m'] }": 'blockDuration' },
  },
  deadline: {
    type: duration(1, 60_000, 'Choose a time that your clients can wait, such as 100 ms.'),
    default: '100ms',
    peers: { "deadline: '100ms'": 'timeout timeoutMs' },
  },
  onStoreError: {
    type: oneOf(['local', 'allow', 'deny']),
    default: 'local',
    peers: {
      "onStoreError: 'local', 'allow' or 'deny'": 'skipOnError passOnStoreError insuranceLimiter',
    },
  },
  localShare: {
    type: share(
      'above 0, up to 1',
      'Give one process its share of the load: 0.25 for four processes.',
    ),
    default: 1,
  },
  refusalCache: {
    type: boolean,
    peers: { refusalCache: 'ephemeralCache inMemoryBlockOnConsumed inMemoryBlockDuration' },
  },
  lease: { type: duration(10, 10_000, "Choose a time such as '250ms'.") },
  maxWaiting: { type: integer(0, 1_000_000, 'requests'), default: 1000, aliases: 'maxQueueSize' },
} satisfies Options

const events = {
  name: { type: shortName('Choose a short name such as login or api.') },
  onDecision: {
    type: callback('(decision, request, key)'),
    peers: {
      'onDecision, for every decision':
        'onLimited onLimitReached onExceeded onExceeding onBanReach analytics',
    },
  },
  onThreshold: { type: callback('(event)') },
  keySecret: { type: secret(16) },
} satisfies Options

/** The options for requests and responses of HTTP. */
const http = {
  user: { type: callback('(request) => id') },
  trustProxy: { type: special },
  ipv6Prefix: {
    type: integer(32, 128, 'bits'),
    default: 56,
    aliases: 'ipv6Subnet ipv6SubnetPrefix',
  },
  maxWait: { type: duration(1, 600_000) },
  priority: { type: integer(-1000, 1000, ''), default: 0, perRequest: true },
  skip: {
    type: callback('(request, key) => boolean'),
    peers: { 'skip: (request) => true or false': 'skipIf ignoreUserAgents' },
  },
  allow: {
    type: special,
    peers: {
      'allow: addresses, CIDRs and keys; for a function, skip': 'allowList whitelist whiteList',
    },
  },
  deny: {
    type: special,
    peers: { 'deny: addresses, CIDRs and keys': 'blacklist blackList enableProtection' },
  },
  headers: {
    type: special,
    default: ['draft-11', 'draft-6'],
    peers: {
      "headers: 'draft-11', 'draft-6', 'legacy' … or false":
        'standardHeaders legacyHeaders draft_polli_ratelimit_headers enableDraftSpec addHeaders addHeadersOnExceeding setHeaders',
      'headers: false': 'disableHeader',
    },
  },
  upstreamHeaders: { type: oneOf(['keep', 'remove']), default: 'keep' },
  retryAfterJitter: { type: share('from 0 to 1'), default: 0.1 },
  partitionSecret: { type: secret(16) },
  statusCode: {
    type: oneOf([402, 403, 404, 429, 503]),
    default: 429,
    peers: { 'statusCode: 402, 403, 404, 429 or 503': 'status' },
  },
  respond: {
    type: callback('(decision, request, response, key)', 'throw', 'continue'),
    peers: {
      "respond: (decision, request, response) => …, or 'throw'":
        'message handler errorMessage errorResponseBuilder',
      "respond: 'throw'": 'throw',
    },
  },
  dryRun: { type: boolean, default: false },
} satisfies Options

/** Options of only some adapters, which document them in their own types. */
const adapter = {
  as: { type: oneOf(['scoped', 'global']) },
  address: { type: callback('(context)') },
  routes: { type: special },
  hook: { type: oneOf(['onRequest', 'preValidation', 'preHandler']), default: 'onRequest' },
} satisfies Options

/** The options of `shedLoad`, besides those that it has in common with `rateLimit`. */
const overload = {
  classOf: { type: callback('(request)') },
  classes: { type: special },
  queue: { type: special },
} satisfies Options

const memoryStore = {
  maxKeys: { type: integer(1, 100_000_000, 'keys'), default: 1_000_000 },
  clock: { type: clock },
} satisfies Options

const redisStore = {
  clock: { type: clock },
  onReadOnly: { type: callback('()') },
} satisfies Options

const postgresStore = {
  schema: {
    type: text(
      /^[^\0]{1,63}$/,
      '1 to 63 characters',
      'Give the name of the schema, without quotes.',
    ),
    default: 'public',
  },
  logged: { type: boolean, default: false },
  clock: { type: clock },
} satisfies Options

const mysqlStore = {
  clock: { type: clock },
} satisfies Options

const dynamodbStore = {
  table: {
    type: text(
      /^[\w.-]{3,255}$/,
      '3 to 255 letters, digits, `_`, `.` and `-`',
      'Give the name of the table, not its ARN.',
    ),
    default: 'sluice_states',
  },
  clock: { type: clock },
} satisfies Options

const sqliteStore = {
  driver: { type: callback('new (path)') },
  durable: { type: boolean, default: false },
  maxBytes: { type: integer(1_048_576, 1_099_511_627_776, 'bytes'), default: 1_073_741_824 },
  clock: { type: clock },
} satisfies Options

/** The table of options, by the place where they are set. */
export const OPTIONS = {
  policy,
  concurrency,
  requestPolicy,
  policies,
  store,
  events,
  http,
  adapter,
  overload,
  memoryStore,
  redisStore,
  postgresStore,
  mysqlStore,
  dynamodbStore,
  sqliteStore,
}

function shortName(fix: string) {
  return text(/^[\x20-\x7e]{1,128}$/, '1 to 128 printable ASCII characters', fix)
}
