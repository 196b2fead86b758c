import { MAX_LIMIT } from '../algorithms/algorithm.ts'
import { ALGORITHM_NAMES, DEFAULT_ALGORITHM } from '../algorithms/index.ts'
import type { Options, PeerNames } from './option.ts'
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
  special,
  text,
  timeZone,
} from './types.ts'
import { unit } from './unit.ts'

/**
 * What a policy counts. Set in the options themselves for a single policy, or in an entry of
 * `policies`. Options that only some algorithms have are those that the registry of algorithms
 * names; their defaults are there too.
 */
const policy = {
  name: {
    type: text(
      /^[\x20-\x7e]{1,128}$/,
      '1 to 128 printable ASCII characters',
      'Choose a short name such as burst or daily: header fields contain it.',
    ),
    default: 'default',
    onlyInPolicies: true,
    description:
      'Identifies the policy in decisions, header fields and keys. Two policies of a limiter cannot have names that differ only in case.',
  },
  limit: {
    type: integer(0, MAX_LIMIT, 'units'),
    required: 'unless `policies` or `concurrent` is set',
    perRequest: true,
    description:
      'The units that one key may use per window. A request costs one unit, unless `cost` says otherwise. 0 refuses everything.',
    peers: { max: true, points: true },
  },
  window: {
    type: durationOrCalendar(),
    required: 'unless `policies` or `concurrent` is set',
    perRequest: duration(),
    description:
      'The length of the window. A unit of the calendar: fixed windows that begin at midnight in `timeZone`, on the day that `anchor` says. Then decisions and header fields have 7 days or 31 days as the length of a week or a month. Each length that a function returns has its own quota; a process accepts 16 of them.',
    see: 'See the recipes of [calendar windows](recipes.md#quotas-by-the-calendar) and of [plans with different windows](recipes.md#plans-with-different-windows).',
    peers: {
      windowMs: true,
      timeWindow: true,
      ttl: true,
      duration: "window: ms, or text such as '1m'",
    },
  },
  timeZone: {
    type: timeZone,
    unset: "`'UTC'`",
    description: 'With a `window` of the calendar: where its days begin.',
  },
  anchor: {
    type: anchor,
    unset: 'the 1st of the month, Monday',
    perRequest: true,
    description:
      "With `window: 'month'`: the day on which months begin; in a shorter month it is the last day. With `window: 'week'`: a date whose weekday weeks begin on. A function may return `undefined` for the default. If the day of a client changes, the window that has begun ends when it said, and the new day counts from there.",
  },
  algorithm: {
    type: oneOf(ALGORITHM_NAMES, 'AlgorithmName'),
    default: DEFAULT_ALGORITHM,
    description: 'How the units are counted.',
    see: 'See [the five algorithms](algorithms.md) and [choosing a limit](choosing.md).',
    peers: {
      execEvenly: "algorithm: 'leaky-bucket'",
      ...each("algorithm: 'leaky-bucket', with maxDelay", 'delayMs', 'delayAfter'),
    },
  },
  burst: {
    type: integer(1, MAX_LIMIT, 'units'),
    unset: 'the default of the algorithm',
    description: 'What the bucket holds when it is full.',
  },
  maxDelay: {
    type: duration(0),
    unset: 'the default of the algorithm',
    description:
      'The longest that an admitted request waits for its turn. A request that would wait longer is refused.',
  },
  unit: {
    type: unit,
    default: 'requests',
    description:
      'What is counted. Clients see the policy if the header profile has a word for its unit. In an adapter, every unit but `requests` needs a `cost` or `settle`.',
    see: 'See [budgets in tokens](recipes.md#budgets-in-tokens).',
  },
} satisfies Options

/** What a policy has that counts what is in use at the same time, instead of the others. */
const concurrency = {
  concurrent: {
    type: integer(0, 1000, 'requests'),
    required: 'instead of `limit` and `window`',
    perRequest: true,
    description:
      'The requests of one key that may be in progress at the same time. A request uses a slot until the application has ended its response. 0 refuses everything.',
    see: 'See [requests in progress](recipes.md#requests-in-progress).',
  },
  hold: {
    type: duration(1000, 3_600_000),
    default: '30s',
    description:
      'With `concurrent`: how long a slot stays in use if its process no longer renews it, because the process died or the client has left a request that never ends. In Hono: also after the client has left a stream, or if nobody reads it. A process renews its slots three times in this time.',
  },
} satisfies Options

/**
 * What a policy reads from a request and its response. Set for all policies of a limiter, or in an
 * entry of `policies`.
 */
const requestPolicy = {
  key: {
    type: oneOfOrFunction(['ip', 'user'], '(request) => text or a number', 'KeyOption<Request>'),
    default: 'ip',
    inPolicies: "the limiter's `key`",
    description:
      'What identifies a client: its address, the signed-in user, or what a function returns. Without a user, or if the function returns nothing, it is the address.',
    peers: each("key: 'ip', 'user' or (request) => text", 'keyGenerator', 'getTracker', 'id'),
  },
  cost: {
    type: integer(0, Number.MAX_SAFE_INTEGER, 'units'),
    default: 1,
    perRequest: true,
    inPolicies: "the limiter's `cost`",
    description:
      'What a request costs. A number above the limit is an error: no request could ever be admitted.',
  },
  settle: {
    type: callback('(request, response) => cost', 'SettleOption<Request, Response>'),
    unset: 'none',
    inPolicies: "the limiter's `settle`, unless the policy has a `cost` of its own",
    description:
      'Returns what a request has really cost, or `undefined` to keep the estimate. Called when the application has ended the response: the difference to `cost` is given back or charged, into debt if necessary. Also called before, when the client leaves and once per window of a slow response: then what the request has cost so far is charged, and nothing is given back.',
    see: 'See [recipes](recipes.md).',
    peers: each(
      'settle: (request, response) => the actual cost',
      ...['skipSuccessfulRequests', 'skipFailedRequests', 'requestWasSuccessful'],
    ),
  },
} satisfies Options

/** The options for several policies: its type is that of the entries. */
const policies = {
  policies: {
    type: special('', 'array of 1 to 32 policies'),
    unset: 'one policy, from the options themselves',
    description:
      'Policies that are decided together: all must admit a request, and none is charged if one refuses.',
    peers: {
      identifier: "policies: [{ name, limit, window }], with this as the policy's name",
    },
  },
} satisfies Options

/** Where a limiter counts, and what it does while the store fails. */
const store = {
  store: {
    type: special('StoreOption<M>', 'a client of Redis as it is, or a store'),
    unset: 'a memory store of its own',
    perRoute: false,
    description: 'Where the counts are kept.',
    see: 'See [the stores](../packages/core/README.md#stores) and [a store of your own](stores.md).',
    peers: {
      ...each(
        'store: the client of Redis or Valkey itself',
        ...['redis', 'driver', 'db', 'storeClient'],
      ),
      cache: 'store: memoryStore({ maxKeys })',
    },
  },
  prefix: {
    type: text(
      /^[\w.:-]{1,64}$/,
      '1 to 64 characters of A-Z a-z 0-9 . _ : -',
      "Choose a namespace such as 'my-api'.",
    ),
    default: 'sluice',
    perRoute: false,
    description:
      'Namespace of the keys in the store. Two limiters on one store share a quota if their prefixes and the name, algorithm (with `burst` or `maxDelay`), window and limit of the policy are the same. Sluice warns of that unless the second names its prefix.',
    peers: { nameSpace: true, namespace: true, keyPrefix: true },
  },
  ban: {
    type: special(
      'BanOptions',
      'object `{ after, within, for }`: 1 … 100 refusals, a duration, and an array of 1 … 10 durations',
    ),
    unset: 'none',
    description:
      'After so many refusals of a key `within` a duration, everything of that key is refused, on all routes, for the first duration of the list `for`; after the next ones for the next, and so on; the last one repeats. Once `within` has passed without a refusal after the last ban, all is forgotten. The key is that of the first policy. What is refused during a ban is not counted.',
    see: 'See [bans](recipes.md#ban-clients-that-ignore-refusals).',
    peers: { blockDuration: 'ban: { after: 1, within: window, for: [duration] }' },
  },
  deadline: {
    type: duration(1, 60_000, 'Choose a time that your clients can wait, such as 100 ms.'),
    default: '100ms',
    description:
      'The longest that a request waits for a remote store. After that `onStoreError` decides.',
    peers: { timeout: 'deadline' },
  },
  onStoreError: {
    type: oneOf(['local', 'allow', 'deny']),
    default: 'local',
    description:
      "What decides while a remote store fails. `'local'`: this process, with the same policies, starting from what it has admitted itself. `'allow'`: all requests are admitted. `'deny'`: all are refused, with 503.",
    see: 'See [failures](failures.md) and [operations](operations.md).',
    peers: each(
      "onStoreError: 'local' (the default), 'allow' or 'deny'",
      ...['skipOnError', 'passOnStoreError', 'insuranceLimiter'],
    ),
  },
  localShare: {
    type: share('above zero', 'Give one process its share of the load: 0.25 for four processes.'),
    default: 1,
    description:
      "With `onStoreError: 'local'`: the share of every limit that this process admits by itself while the store fails, at least one unit: 0.25 if four processes share the load. What the store still has left when it is back comes on top.",
  },
  refusalCache: {
    type: boolean,
    unset: 'true, unless something in this process settles on the same quota',
    description:
      'Whether a client that has nothing left is refused from memory, for at most 10 s before a remote store is asked again. What another process gives back by `reset` or `settle` is seen no sooner.',
  },
} satisfies Options

/** How a limiter tells what it does. */
const events = {
  name: {
    type: text(
      /^[\x20-\x7e]{1,128}$/,
      '1 to 128 printable ASCII characters',
      'Choose a short name such as login or api.',
    ),
    unset: 'none',
    description: 'Identifies the limiter in events and metrics.',
    see: 'See [events](events.md).',
  },
  onDecision: {
    type: callback(
      '(decision, request, key)',
      '(decision: Decision, request: Request, key: string) => void',
    ),
    unset: 'none',
    description:
      'Called with every decision, for logs and metrics; of `createLimiter` with those of `consume` and `acquire`, without a request.',
    peers: each('onDecision, for every decision', ...['onLimited', 'onExceeded', 'onExceeding']),
  },
  keySecret: {
    type: secret(16),
    unset: 'none',
    description:
      "With a secret, the events of refusals and bans have `keyHash`: an HMAC-SHA-256 of the client's key, in base64url.",
    see: 'See [events](events.md).',
  },
} satisfies Options

/** What a limiter does with requests and responses of HTTP. */
const http = {
  user: {
    type: callback('(request) => id', 'UserOption<Request>'),
    unset: 'the `id` or `sub` of what the framework has as its user',
    description: "The user's id for `key: 'user'`, or undefined if nobody is signed in.",
  },
  trustProxy: {
    type: special(
      'TrustProxyOption',
      'addresses, CIDRs and the names `loopback`, `linklocal`, `uniquelocal`; a number of hops; a function `(address, hop) => boolean`; or `{ proxies, header }`, with one of these and the name of the field',
    ),
    unset: "the framework's own setting",
    description:
      "Which proxies to trust about the client's address, and which field they write: `X-Forwarded-For`, or `header: 'Forwarded'` (RFC 7239). The other field is not read.",
    see: "The framework's own setting is Express's `trust proxy`, Fastify's `trustProxy`, and Koa's `proxy` with `maxIpsCount`. See [security](security.md).",
  },
  ipv6Prefix: {
    type: integer(32, 128, 'bits'),
    default: 56,
    description: 'IPv6 addresses that have so many bits in common share a key.',
    peers: { ipv6Subnet: true },
  },
  skip: {
    type: callback(
      '(request, key) => boolean',
      '(request: Request, key: () => MaybePromise<string>) => MaybePromise<boolean>',
    ),
    unset: 'none',
    description:
      'Requests for which it returns true are neither limited nor counted. `key()` reads the key of the request, once; await it, because a key function may be async.',
    peers: { skipIf: 'skip' },
  },
  allow: {
    type: special('readonly string[]', 'array of addresses, CIDRs and keys'),
    unset: 'none',
    description: 'Clients that are never limited nor counted.',
    peers: each(
      'allow: addresses, CIDRs and keys; for a function, skip',
      ...['allowList', 'whitelist'],
    ),
  },
  deny: {
    type: special('readonly string[]', 'array of addresses, CIDRs and keys'),
    unset: 'none',
    description:
      'Clients that are always refused, with 403, their preflights too. A client on both lists is refused.',
    peers: { blacklist: 'deny: addresses, CIDRs and keys' },
  },
  headers: {
    type: special(
      'OneOf<HeaderProfile> | readonly OneOf<HeaderProfile>[] | boolean',
      'a profile, an array of compatible ones, or `false`',
    ),
    default: ['draft-11', 'draft-6'],
    description:
      'Which rate-limit fields responses have. `Retry-After` is sent with every refusal, even with `false`.',
    see: 'See [the profiles](#header-profiles).',
    peers: {
      ...each(
        "headers: 'draft-11', 'draft-6', 'legacy' … or false",
        ...['standardHeaders', 'legacyHeaders', 'enableDraftSpec', 'addHeaders'],
      ),
      disableHeader: 'headers: false',
    },
  },
  retryAfterJitter: {
    type: share('zero'),
    default: 0.1,
    description:
      'The share of the wait that is added to `Retry-After` at random, upward only, at most 30 s. So clients that were refused together do not return together.',
  },
  partitionSecret: {
    type: secret(16),
    unset: 'none',
    description:
      "With a secret, the fields have a partition key (`pk`): an HMAC of the client's key.",
  },
  statusCode: {
    type: oneOf([429, 503]),
    default: 429,
    description: 'The status of a refusal.',
    peers: { status: 'statusCode: 429 or 503' },
  },
  respond: {
    type: callback(
      '(decision, request, response, key)',
      "OneOf<'throw' | 'continue'> | ((decision: Decision, request: Request, response: Response, key: string) => unknown)",
      'throw',
      'continue',
    ),
    unset: 'problem+json (RFC 9457)',
    description:
      "Writes the body of the refusal. Status and header fields are set already. `'throw'` hands the refusal to the application's error handler, as a `RateLimitError`. `'continue'` lets a request go on that a policy refuses: it is not charged, and the decision on the request says so. Clients on `deny`, and those that `onStoreError` refuses, are refused with the default body.",
    peers: {
      ...each(
        "respond: (decision, request, response) => …, or 'throw'",
        ...['message', 'handler', 'errorMessage', 'errorResponseBuilder'],
      ),
      throw: "respond: 'throw'",
    },
  },
  dryRun: {
    type: boolean,
    default: false,
    description: 'Decides, counts and reports, but never refuses and sends no fields.',
  },
  maxWaiting: {
    type: integer(0, 1_000_000, 'requests'),
    default: 1000,
    description:
      'With a leaky bucket: how many requests of this limiter wait for their turn in this process at most. Further ones are refused. A key gets another place only while it has fewer than are free, so a single key gets at most half of them.',
  },
} satisfies Options

/** Options of only some adapters, which document them in their own types. */
const adapter = {
  address: {
    type: callback('(context)', '(context: Context) => string | undefined'),
    unset: 'none: an error, unless `key` or `trustProxy` says who the client is',
    description:
      "Hono and the Fetch standard, whose requests do not have the client's address: returns it. For `limitFetch` it gets the arguments of the handler.",
  },
  routes: {
    type: special('', "object: `{ 'POST /login': { limit: 5, window: '15m' }, '/health': false }`"),
    unset: 'none',
    description:
      'Express, Koa, Hono, Node and the Fetch standard: options that differ by route. The most specific entry wins, one with a method before one without. `false` exempts the route.',
  },
  hook: {
    type: oneOf(['onRequest', 'preValidation', 'preHandler']),
    default: 'onRequest',
    description:
      "Fastify: when requests are decided, also per route. `'onRequest'`: before anything of the body is read. `'preValidation'`: when the body is parsed. `'preHandler'`: when it is validated, and the application knows the user.",
  },
} satisfies Options

const memoryStore = {
  maxKeys: {
    type: integer(1, 100_000_000, 'keys'),
    default: 1_000_000,
    description:
      'The most keys that are kept, over all limiters that use the store. A key with three policies counts three times. When the store is full, expired keys are removed first, then those nearest to a full quota. A key that is being refused is never removed: if all keys are, new keys share one quota. A million keys need about 60 MB, and the keys themselves.',
  },
  clock: {
    type: clock,
    unset: 'the wall clock; a turn of the event loop that asks often stops reading it',
    description: 'A clock for tests.',
  },
} satisfies Options

const redisStore = {
  clock: {
    type: clock,
    unset: "the server's `TIME`, read by the script",
    description: 'A clock for tests.',
  },
  onReadOnly: {
    type: callback('()', '() => unknown'),
    unset: 'none',
    description:
      'Called, at most once in 1,000 ms, when the server says that it is a read-only replica: after a failover the client may still be connected to the old master. Sluice never touches the connection of the client, so make the client reconnect here. May be async; what it throws becomes a warning.',
    see: 'node-redis needs it, ioredis has [an option of its own](../packages/core/README.md#stores).',
  },
} satisfies Options

const postgresStore = {
  schema: {
    type: text(
      /^[^\0]{1,63}$/,
      '1 to 63 characters',
      'Give the name of the schema that has the table, without quotes.',
    ),
    default: 'public',
    description: 'The schema of the table `sluice_states`.',
  },
  logged: {
    type: boolean,
    default: false,
    description:
      'Whether the table that `migrate()` creates survives a crash of the server. An UNLOGGED table is empty after a crash and after a failover: all quotas are whole again, and blocks are gone. It writes much less.',
    see: 'See [what a crash means](../packages/postgres/README.md#what-a-crash-means).',
  },
  clock: {
    type: clock,
    unset: "the server's `clock_timestamp()`",
    description: 'A clock for tests.',
  },
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
  memoryStore,
  redisStore,
  postgresStore,
}

/** One text for several names. */
function each(instead: string, ...names: readonly string[]): PeerNames {
  return Object.fromEntries(names.map((name) => [name, instead]))
}
