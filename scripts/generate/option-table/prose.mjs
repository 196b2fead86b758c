// The texts of the reference about each option, by the tables of options/table.ts.

/** @param call of the store, up to its options */
const clock = (unset, call) => ({
  unset,
  description: 'The clock.',
  example: `${call}{ clock: () => 1_800_000_000_000 })`,
  avoid: 'Avoid it outside tests.',
})

/**
 * `description`: what it does, in sentences, as Markdown; its values and its default are not repeated.
 * `unset`: what happens if an option without a default is not set. `required`: when it must be set.
 * `inPolicies`: its default in an entry of `policies`. `see`: where to read more. `form` and `typescript`: its
 * values in words and in TypeScript, where these are not those of its type. `errors`: the codes of what wrong values
 * throw, where its type does not say. `example`: at most eight lines, which a test runs. `avoid`: when not to use it.
 */
export const PROSE = {
  policy: {
    name: {
      description:
        'Identifies the policy in decisions, header fields and keys. Names must differ in more than case.',
      example: "createLimiter({ policies: [{ name: 'daily', limit: 1000, window: '1d' }] })",
      avoid: 'Avoid changing it: counts start again.',
    },
    limit: {
      required: 'unless `policies` or `concurrent` is set',
      description:
        'The units that one key may use per window. A request costs one unit, unless `cost` is set. 0 refuses everything.',
      example: "rateLimit({ limit: 100, window: '1m' })",
      avoid: 'Avoid it alone for requests that take minutes: add `concurrent`.',
    },
    window: {
      required: 'unless `policies` or `concurrent` is set',
      description:
        'The length of the window. A number is milliseconds; below 1000 it causes a [warning](errors.md#sluice_window_short). Calendar windows are fixed, and begin at midnight in `timeZone`, on the day that `anchor` sets. If a function returns different lengths (at most 16 per process), each has its own quota.',
      see: 'See [calendar windows](recipes.md#quotas-by-the-calendar) and [plans with different windows](recipes.md#plans-with-different-windows).',
      example: "createLimiter({ limit: 1000, window: '1d' })",
      avoid: 'Avoid long windows where clients must recover quickly.',
    },
    timeZone: {
      unset: "`'UTC'`",
      description: 'With a calendar `window`: the time zone of its days.',
      example: "createLimiter({ limit: 1000, window: 'day', timeZone: 'Europe/Berlin' })",
      avoid: "Avoid it with `'1d'`, which has no midnight.",
    },
    anchor: {
      unset: 'the 1st of the month, Monday',
      description:
        "With `window: 'month'`: the day on which months begin, or the last day of a shorter month. With `window: 'week'`: any date on the weekday on which weeks begin. A function may return `undefined` for the default. If a client's anchor changes, its current window still ends as planned.",
      example: "createLimiter({ limit: 1000, window: 'month', anchor: 15 })",
      avoid: "Avoid it with `'day'`.",
    },
    algorithm: {
      description: 'How the units are counted.',
      see: 'See [the five algorithms](algorithms.md) and [choosing a limit](choosing.md).',
      example: "createLimiter({ limit: 100, window: '1h', algorithm: 'sliding-log' })",
      avoid: "Avoid `'sliding-log'` for large limits: it stores every request.",
    },
    burst: {
      unset: 'the default of the algorithm',
      description: 'How many units a full bucket holds.',
      example: "rateLimit({ limit: 100, window: '1m', algorithm: 'token-bucket', burst: 20 })",
      avoid: 'Avoid more than your server can take at once.',
    },
    maxDelay: {
      unset: 'the default of the algorithm',
      description:
        'The longest that an admitted request waits for its turn. A request that would wait longer is refused.',
      example:
        "rateLimit({ limit: 10, window: '1s', algorithm: 'leaky-bucket', maxDelay: '500ms' })",
      avoid: 'Avoid more than clients wait.',
    },
    unit: {
      description:
        'The unit that is counted. Header fields show the policy if their profile has a name for the unit. In an adapter, every unit but `requests` needs a `cost` or `settle`.',
      see: 'See [budgets in tokens](recipes.md#budgets-in-tokens).',
      example: "rateLimit({ limit: 10_000, window: '1d', unit: 'tokens', cost: 500 })",
      avoid: 'Avoid it if you count requests.',
    },
    dryRun: {
      unset: '`false`',
      description:
        'The policy counts and reports, but refuses nothing. It does not charge requests that it would refuse. Decisions and events have `dryRun`; header fields show the policy only with the profile `dry-run`.',
      example:
        "createLimiter({ policies: [{ name: 'new', limit: 10, window: '1s', dryRun: true }] })",
      avoid: 'Avoid it for limits that protect you today.',
    },
    enforce: {
      unset: '1',
      description:
        'The share of clients that the policy applies to; for all others it is a dry run. A hash of the key and of the names of limiter, policy and route chooses them, the same in every process. A larger share only adds clients.',
      see: 'See [introducing a limit](live-policies.md#introduce-a-limit-in-three-steps).',
      example: "createLimiter({ limit: 10, window: '1s', enforce: 0.1 })",
      avoid: 'Avoid it with `dryRun`.',
    },
    live: {
      unset: '`false`',
      form: '`true`, or an object with bounds: `{ limit: { min, max } }`',
      typescript: 'boolean | LiveBounds',
      description:
        'Lets a document in the store change `limit`, `burst`, `maxDelay`, `concurrent`, `alertAt`, `dryRun` and `enforce` while the application runs. Every process applies a change within two seconds. The limiter, or the policy, needs a `name`.',
      see: 'See [live policies](live-policies.md).',
      errors: 'SLUICE_OPTION_TYPE SLUICE_OPTION_RANGE',
      example:
        "createLimiter({ name: 'api', limit: 100, window: '1m', live: { limit: { min: 10, max: 500 } } })",
      avoid: 'Avoid `true` where a typo would hurt: set bounds.',
    },
    alertAt: {
      unset: 'none',
      description:
        'Shares of the limit. A charge or settlement that reaches one causes an event in its process.',
      example: "createLimiter({ limit: 100, window: '1m', alertAt: [0.8, 1] })",
      avoid: 'Avoid it for anonymous clients: each causes events.',
    },
    reserve: {
      description:
        'With fixed and sliding windows and token buckets: the charge is a reservation. If the process dies before it settles, the charge is given back after `hold`. In an adapter, it needs `settle` and a `cost` above 0; with `createLimiter`, it applies to `acquire`.',
      see: 'See [reservations](plans.md#reservations).',
      example: `rateLimit({
  limit: 10_000,
  window: '1d',
  reserve: true,
  cost: 500,
  settle: (request) => request.body?.tokens,
})`,
      avoid: 'Avoid it if you know the cost in advance.',
    },
  },
  concurrency: {
    concurrent: {
      required: 'unless `policies`, or `limit` and `window`, are set',
      description:
        'The requests of one key that may be in progress at once. Each uses a slot until the application has ended its response. 0 refuses everything.',
      see: 'See [requests in progress](recipes.md#requests-in-progress).',
      example: "rateLimit({ concurrent: 5, key: 'user' })",
      avoid: 'Avoid it for short requests: `limit` bounds their rate.',
    },
    hold: {
      description:
        'With `concurrent` or `reserve`: how long a slot stays in use, or an estimate charged, if its process stops renewing it because the process died, or the client left a request that never ends. In Hono, also if the client left a stream, or nobody reads it. A process renews its slots three times in this time.',
      example: "rateLimit({ concurrent: 5, hold: '1m' })",
      avoid: 'Avoid short values if the event loop stalls.',
    },
  },
  requestPolicy: {
    key: {
      typescript: 'KeyOption<Request>',
      inPolicies: "the limiter's `key`",
      description:
        "The client's key: its address, the signed-in user, or the result of a function. If there is no user, or the function returns nothing, it is the address.",
      example: "rateLimit({ limit: 100, window: '1m', key: 'user' })",
      avoid: 'Avoid values that clients choose, such as headers.',
    },
    shard: {
      typescript: 'UserOption<Request>',
      unset: 'none',
      inPolicies: "the limiter's `shard`",
      description:
        'For a Redis Cluster: policies with the same shard keep their keys in one slot, so that they can be decided together. Keys become `{shard}key`, in every store.',
      see: 'See [budgets in levels on a cluster](plans.md#levels-in-a-redis-cluster).',
      example: "rateLimit({ limit: 100, window: '1m', shard: ({ hostname }) => hostname })",
      avoid: 'Avoid it without a cluster.',
    },
    cost: {
      inPolicies: "the limiter's `cost`",
      description:
        'The cost of a request. A number above the limit is an error: no request could ever be admitted.',
      example:
        "rateLimit({ limit: 100, window: '1m', cost: ({ method }) => (method === 'GET' ? 1 : 5) })",
      avoid: 'Avoid it if only the response shows the cost: use `settle`.',
    },
    settle: {
      typescript: 'SettleOption<Request, Response>',
      unset: 'none',
      inPolicies: "the limiter's `settle`, unless the policy has its own `cost`",
      description:
        'Returns the real cost of a request, or `undefined` to keep the estimate. Called when the application has ended the response: the difference to `cost` is given back or charged, into debt if necessary. Also called when the client leaves, and once per window of a slow response: then the cost so far is charged, and nothing is given back.',
      see: 'See [costs known afterwards](settle.md).',
      example:
        "rateLimit({ limit: 100, window: '1m', settle: (_, { statusCode }) => (statusCode < 400 ? 0 : 1) })",
      avoid: 'Avoid it with `concurrent`.',
    },
  },
  policies: {
    policies: {
      form: 'array of 1 to 32 policies',
      typescript: '',
      unset: 'one policy, from the options themselves',
      description:
        'Policies that are decided together: all must admit a request. If one refuses, none is charged.',
      errors: 'SLUICE_OPTION_TYPE',
      example: `createLimiter({
  policies: [
    { name: 'burst', limit: 10, window: '1s' },
    { name: 'daily', limit: 1000, window: '1d' },
  ],
})`,
      avoid: 'Avoid it for one limit.',
    },
  },
  store: {
    store: {
      form: 'a Redis client, unwrapped, or a store',
      typescript: 'StoreOption<M>',
      unset: 'its own memory store',
      description: 'Where the counts are kept.',
      see: 'See [the stores](../packages/core/README.md#stores) and [a store of your own](stores.md).',
      errors: 'SLUICE_STORE_UNKNOWN',
      example: "rateLimit({ store: redis, limit: 100, window: '1m' })",
      avoid: 'Avoid memory with several processes: each counts alone.',
    },
    prefix: {
      description:
        "Namespace of the keys in the store. Two limiters on one store share counts if their prefix and the policy's name, algorithm and window are the same. Sluice warns about it, unless the second sets `prefix`. In one process, their limits must be the same.",
      example: "rateLimit({ store: redis, prefix: 'login', limit: 5, window: '15m' })",
      avoid: 'Avoid changing it: counts start again.',
    },
    ban: {
      form: 'object `{ after, within, for }`: 1 … 100 refusals, a duration, and an array of 1 … 10 durations',
      typescript: 'BanOptions',
      unset: 'none',
      description:
        'Bans a key on all routes after so many refusals `within` a duration: first for the first duration of `for`, the next time for the second, and so on; the last one repeats. Once `within` has passed after a ban without a refusal, everything is forgotten. The key is that of the first policy. Requests that a ban refuses are not counted.',
      see: 'See [bans](recipes.md#ban-clients-that-ignore-refusals).',
      errors: 'SLUICE_OPTION_TYPE SLUICE_OPTION_RANGE',
      example:
        "rateLimit({ limit: 5, window: '15m', ban: { after: 10, within: '1h', for: ['1h', '1d'] } })",
      avoid: 'Avoid it for addresses that many people share.',
    },
    deadline: {
      description:
        'The longest that a request waits for a remote store. Then `onStoreError` decides.',
      example: "rateLimit({ store: redis, limit: 100, window: '1m', deadline: '50ms' })",
      avoid: 'Avoid less than your store usually takes.',
    },
    onStoreError: {
      description:
        "What happens while a remote store fails. `'local'`: this process decides, with the same policies, starting from what it has admitted itself. `'allow'`: all requests are admitted. `'deny'`: all are refused, with 503.",
      see: 'See [failures](failures.md) and [operations](operations.md).',
      example: "rateLimit({ store: redis, limit: 100, window: '1m', onStoreError: 'deny' })",
      avoid: "Avoid `'deny'` if an outage costs more than abuse.",
    },
    localShare: {
      description:
        "With `onStoreError: 'local'`: the share of every limit that this process admits while the store fails, at least one unit. Set 0.25 for four processes. When the store is back, what it has left comes on top.",
      example: "rateLimit({ store: redis, limit: 100, window: '1m', localShare: 0.25 })",
      avoid: 'Avoid it with one process.',
    },
    refusalCache: {
      unset: 'true, unless something in this process settles on the same quota',
      description:
        'Whether a client that has nothing left is refused from memory, for at most 2 s or `lease`, before the remote store is asked again. Until then, this process does not see a `reset`, `settle`, `override` or `grant` of another.',
      example: "rateLimit({ store: redis, limit: 100, window: '1m', refusalCache: false })",
      avoid: 'Avoid `false` under attack: each refusal asks the store.',
    },
    lease: {
      unset: 'none',
      description:
        'How long a process may admit requests of a busy key from units that it took from a remote store in advance.',
      see: 'See [leases](leases.md).',
      example: "rateLimit({ store: redis, limit: 300_000, window: '1m', lease: '250ms' })",
      avoid: 'Avoid it where no key is busy: it saves nothing.',
    },
    maxWaiting: {
      description:
        'The most requests of this limiter that wait in this process: for their turn in a leaky bucket, and, counted separately, in `wait` and `acquire`. Further requests are refused. One key gets at most half of the places.',
      see: 'See [waiting](waiting.md).',
      example: "rateLimit({ limit: 10, window: '1s', maxWait: '2s', maxWaiting: 100 })",
      avoid: 'Avoid more than memory has room for.',
    },
  },
  events: {
    name: {
      unset: 'none',
      description: 'Identifies the limiter in events and metrics.',
      example: "createLimiter({ name: 'search', limit: 100, window: '1m' })",
      avoid: 'Avoid names from user input: metrics would grow.',
    },
    onDecision: {
      typescript: '(decision: Decision, request: Request, key: string) => void',
      unset: 'none',
      description:
        'Called with every decision, for logs and metrics. With `createLimiter`, these are the decisions of `consume`, `acquire` and `wait`, without a request.',
      example:
        "createLimiter({ limit: 100, window: '1m', onDecision: ({ allowed }) => console.log(allowed) })",
      avoid: 'Avoid slow work: requests wait for it.',
    },
    onThreshold: {
      typescript: '(event: ThresholdEvent) => void',
      unset: 'none',
      description:
        'Called when a charge brings a key to a share that `alertAt` lists, with the event of `sluice:threshold`.',
      see: 'See [thresholds](events.md#sluicethreshold).',
      example:
        "createLimiter({ limit: 100, window: '1m', alertAt: [0.8], onThreshold: console.log })",
      avoid: 'Avoid it for billing: a crash loses events.',
    },
    keySecret: {
      unset: 'none',
      description:
        "Adds `keyHash` to the events of refusals and bans: an HMAC-SHA-256 of the client's key with this secret, in base64url.",
      example: "createLimiter({ limit: 100, window: '1m', keySecret: process.env.KEY_SECRET })",
      avoid: 'Avoid a different secret per process.',
    },
  },
  http: {
    user: {
      typescript: 'UserOption<Request>',
      unset: "the framework's user if it is text or a number, otherwise its `id` or `sub`",
      description: "Returns the user's id for `key: 'user'`, or undefined if nobody is signed in.",
      example: "rateLimit({ limit: 100, window: '1m', key: 'user', user: accountOf })",
      avoid: 'Avoid it before authentication.',
    },
    trustProxy: {
      form: 'addresses, CIDRs, `loopback`, `linklocal`, `uniquelocal`; a number of hops; a function `(address, hop) => boolean`; or `{ proxies, header }`, with one of these and the field',
      typescript: 'TrustProxyOption',
      unset: "the framework's own setting",
      description:
        "Which proxies to trust for the client's address, and which field they write: `X-Forwarded-For`, or `header`: `'Forwarded'`, `'CF-Connecting-IP'`, `'True-Client-IP'`, `'X-Real-IP'`, `'Fly-Client-IP'`.",
      see: 'See [proxies](places/proxies.md) and [security](security.md).',
      errors: 'SLUICE_TRUST_PROXY',
      example: "rateLimit({ limit: 100, window: '1m', trustProxy: ['loopback', '10.0.0.0/8'] })",
      avoid: 'Avoid a number if clients can bypass a proxy.',
    },
    ipv6Prefix: {
      description: 'IPv6 addresses with this many leading bits in common share a key.',
      example: "rateLimit({ limit: 100, window: '1m', ipv6Prefix: 64 })",
      avoid: 'Avoid 128: a client has more addresses than you can count.',
    },
    maxWait: {
      unset: 'a request is refused at once',
      description:
        'The longest that a request waits instead of being refused. A request that would wait longer is refused at once. At most `maxWaiting` wait, and clients take turns.',
      see: 'See [requests that wait](waiting.md#requests-that-wait).',
      example: "rateLimit({ limit: 10, window: '1s', maxWait: '2s' })",
      avoid: "Avoid it with `'leaky-bucket'`, which has `maxDelay`.",
    },
    priority: {
      description:
        'Higher numbers go first among the requests that wait for a key. Only with `maxWait`.',
      example: "rateLimit({ limit: 10, window: '1s', maxWait: '2s', priority: () => 1 })",
      avoid: 'Avoid a value that clients choose.',
    },
    skip: {
      typescript: '(request: Request, key: () => MaybePromise<string>) => MaybePromise<boolean>',
      unset: 'none',
      description:
        "Requests for which it returns true are neither limited nor counted. `await key()` gives the request's key.",
      example: "rateLimit({ limit: 100, window: '1m', skip: ({ method }) => method === 'HEAD' })",
      avoid: 'Avoid it for whole routes: use `routes`.',
    },
    allow: {
      form: 'array of addresses, CIDRs and keys',
      typescript: 'readonly string[]',
      unset: 'none',
      description: 'Clients that are neither limited nor counted.',
      errors: 'SLUICE_OPTION_TYPE SLUICE_CIDR',
      example: "rateLimit({ limit: 100, window: '1m', allow: ['127.0.0.1', '10.0.0.0/8'] })",
      avoid: "Avoid your proxies' addresses.",
    },
    deny: {
      form: 'array of addresses, CIDRs and keys',
      typescript: 'readonly string[]',
      unset: 'none',
      description:
        'Clients that always get 403, for preflights too. It takes precedence over `allow`.',
      errors: 'SLUICE_OPTION_TYPE SLUICE_CIDR',
      example: "rateLimit({ limit: 100, window: '1m', deny: ['203.0.113.0/24'] })",
      avoid: 'Avoid it for a temporary ban: `block` ends by itself.',
    },
    headers: {
      form: 'a profile, an array of compatible ones, or `false`',
      typescript: 'HeaderProfile | readonly HeaderProfile[] | false',
      description:
        'Which rate-limit fields responses have. Every refusal has `Retry-After`, even with `false`. Fields that the application sets later win, unless `upstreamHeaders` removes them.',
      see: 'See [the profiles](#header-profiles).',
      errors: 'SLUICE_HEADERS',
      example: "rateLimit({ limit: 100, window: '1m', headers: 'legacy' })",
      avoid: 'Avoid `false`: clients could not slow down in time.',
    },
    upstreamHeaders: {
      description:
        "What happens to rate-limit fields that the application sets after Sluice, such as those of a service behind a gateway. `'keep'`: they win. `'remove'`: the response has only the fields of `headers`, unless the request is exempt.",
      example: "rateLimit({ limit: 100, window: '1m', upstreamHeaders: 'remove' })",
      avoid: "Avoid `'remove'` if clients need the service's limits.",
    },
    retryAfterJitter: {
      description:
        'The largest share of the wait that is added to `Retry-After` at random, at most 30 s.',
      example: "rateLimit({ limit: 100, window: '1m', retryAfterJitter: 0.3 })",
      avoid: 'Avoid 0: clients refused together would return together.',
    },
    partitionSecret: {
      unset: 'none',
      description:
        "Adds a partition key (`pk`) to the fields: an HMAC of the client's key with this secret.",
      example:
        "rateLimit({ limit: 100, window: '1m', partitionSecret: process.env.PARTITION_SECRET })",
      avoid: 'Avoid a different secret per process.',
    },
    statusCode: {
      description:
        'The status of a refusal. With 403 and 404, the body does not say why. A banned client gets 429 instead of 402 or 503.',
      example: "rateLimit({ limit: 100, window: '1m', statusCode: 503 })",
      avoid: 'Avoid 503 behind load balancers that then drop the server.',
    },
    respond: {
      typescript:
        "'throw' | 'continue' | ((decision: Decision, request: Request, response: Response, key: string) => unknown)",
      unset: 'problem+json (RFC 9457)',
      description:
        "Sends the body of the refusal, or returns it: text, an object for JSON, or a `Response`. Status and header fields are already set. If it does neither, the default body is sent after a second, with a warning. `'throw'` passes a `RateLimitError` to the application's error handler. `'continue'` lets a refused request continue, uncharged: its decision has `allowed: false`. `deny` and `onStoreError` still refuse, with the default body.",
      example:
        "rateLimit({ limit: 100, window: '1m', respond: ({ retryAfterMs }) => ({ retryAfterMs }) })",
      avoid: "Avoid `'continue'` unless your handler reads the decision.",
    },
    dryRun: {
      description: 'Counts and reports, but never refuses, and sends no fields.',
      example: "rateLimit({ limit: 100, window: '1m', dryRun: true })",
      avoid: 'Avoid it for limits that protect you today.',
    },
  },
  adapter: {
    as: {
      unset: 'in `onRequest`, for all requests',
      description:
        'Elysia: decides in `onBeforeHandle` of the routes in this scope, when `derive` and `resolve` have run.',
      example: `import { rateLimit } from '@sluice/elysia'

app.use(rateLimit({ limit: 100, window: '1m', key: 'user', as: 'scoped' }))`,
      avoid:
        'Avoid it without need: bodies are parsed even if refused, and unknown routes are not limited.',
    },
    address: {
      typescript: '(context: Context) => string | undefined',
      unset: 'none: an error, unless `key` or `trustProxy` identifies the client',
      description:
        "For Hono, `limitFetch`, and Elysia on other runtimes than Bun and Node, whose requests lack the client's address: returns it. With `limitFetch`, it gets the arguments of the handler.",
      example: `import { getConnInfo } from '@hono/node-server/conninfo'
import { rateLimit } from '@sluice/hono'

rateLimit({ limit: 100, window: '1m', address: (c) => getConnInfo(c).remote.address })`,
      avoid: 'Avoid reading a header: use `trustProxy`.',
    },
    routes: {
      form: 'object',
      typescript: '',
      unset: 'none',
      description:
        'Options that differ by route; not in Fastify and Nest. The most specific entry wins, and an entry with a method wins over one without. `false` exempts the route. Paths are whole, or relative to the mount point.',
      errors: 'SLUICE_OPTION_TYPE SLUICE_ROUTE',
      example:
        "rateLimit({ limit: 100, window: '1m', routes: { 'POST /login': { limit: 5 }, '/health': false } })",
      avoid: 'Avoid patterns that match no route.',
    },
    hook: {
      description:
        "Fastify: when requests are decided, also per route. `'onRequest'`: before the body is read. `'preValidation'`: after the body is parsed. `'preHandler'`: after it is validated, when the application knows the user.",
      example: `import { rateLimit } from '@sluice/fastify'

await app.register(rateLimit, { limit: 100, window: '1m', hook: 'preHandler' })`,
      avoid: 'Avoid late hooks: bodies are parsed even if refused.',
    },
  },
  overload: {
    classOf: {
      typescript: '(request: Request) => Class',
      unset: 'all requests are in one class',
      description:
        'Returns the class of a request. Decide by what the server knows, such as the route or a verified user. Called for every request. A name that is not in `classes` counts as the last class.',
      example: `import { shedLoad } from '@sluice/express/overload'

shedLoad({
  classes: { critical: { reserve: 0.3 }, normal: {} },
  classOf: ({ path }) => (path === '/pay' ? 'critical' : 'normal'),
})`,
      avoid: 'Avoid a class that clients can claim: it protects nobody.',
    },
    classes: {
      form: 'object',
      typescript: 'Readonly<Record<Class, ClassOptions>>',
      unset: 'one class',
      description:
        'The classes, most important first, at most 16. Important requests begin first, and the others are shed first.',
      errors: 'SLUICE_OPTION_VALUE SLUICE_OPTION_TYPE',
      example: `import { shedLoad } from '@sluice/express/overload'

shedLoad({
  classes: { critical: { reserve: 0.3 }, batch: {} },
  classOf: ({ path }) => (path === '/report' ? 'batch' : 'critical'),
})`,
      avoid: 'Avoid reserves that add up to 1: others starve.',
    },
    queue: {
      form: 'object: `{ max, maxWait }`',
      typescript: 'QueueOptions',
      unset: "`{ max: 200, maxWait: '1s' }`",
      description:
        'How many requests may wait, and for how long. While more requests arrive than the process can serve, fewer wait, and for less time.',
      errors: 'SLUICE_OPTION_TYPE SLUICE_OPTION_RANGE',
      example: `import { shedLoad } from '@sluice/express/overload'

shedLoad({ queue: { max: 100, maxWait: '500ms' } })`,
      avoid: 'Avoid waits longer than clients accept.',
    },
  },
  memoryStore: {
    maxKeys: {
      description:
        'The most keys that the store keeps, over all of its limiters; a key with three policies counts three times. A full store removes expired keys first, then those nearest to a full quota, and never one that is being refused: if all are, new keys share one quota. A million keys need about 60 MB, plus the keys themselves.',
      example: 'memoryStore({ maxKeys: 100_000 })',
      avoid: 'Avoid fewer keys than clients.',
    },
    clock: clock('the wall clock', 'memoryStore('),
  },
  redisStore: {
    clock: clock("the server's `TIME`, read by the script", 'redisStore(redis, '),
    onReadOnly: {
      typescript: '() => unknown',
      unset: 'none',
      description:
        'Called, at most once per second, when the server is a read-only replica: after a failover, the client may still be connected to the old master. Make it reconnect here. May be async; if it throws, Sluice warns.',
      see: 'node-redis needs it, ioredis has [an option of its own](redis.md#after-a-failover).',
      example: 'redisStore(redis, { onReadOnly: () => redis.disconnect(true) })',
      avoid: 'Avoid it with `reconnectOnError`.',
    },
  },
  postgresStore: {
    schema: {
      description: 'The schema of the table `sluice_states`.',
      example: "postgresStore(pool, { schema: 'limits' })",
      avoid: 'Avoid schemas that `migrate()` cannot write to.',
    },
    logged: {
      description:
        'Whether the table that `migrate()` creates survives a server crash. An UNLOGGED table writes much less, but a crash or failover makes all quotas full again and ends blocks.',
      see: 'See [what a crash means](postgresql.md#what-a-crash-means).',
      example: 'postgresStore(pool, { logged: true })',
      avoid: 'Avoid it for short windows: it costs more than it keeps.',
    },
    clock: clock("the server's `clock_timestamp()`", 'postgresStore(pool, '),
  },
  mysqlStore: {
    clock: clock("the server's `UTC_TIMESTAMP(3)`", 'mysqlStore(createPool({}), '),
  },
  dynamodbStore: {
    table: {
      description: 'The table.',
      example: "dynamodbStore(client, { table: 'limits' })",
      avoid: 'Avoid one table for staging and production.',
    },
    clock: clock(
      "the process's, corrected by the `Date` of DynamoDB's responses",
      'dynamodbStore(client, ',
    ),
  },
  sqliteStore: {
    driver: {
      form: 'a class: `Database` of better-sqlite3',
      typescript:
        'new (path: string) => { exec(sql: string): unknown; prepare(sql: string): object; close(): unknown }',
      unset: '`DatabaseSync` of `node:sqlite`, from Node 22.13 on',
      description:
        'The driver that opens the file. Processes may use different drivers, the threads of one process must not.',
      example: 'sqliteStore(path, { driver: Database })',
      avoid: 'Avoid two drivers in a process.',
    },
    durable: {
      description:
        'Whether each decision waits until it is on disk. Without it, counts survive the end of a process, but a power failure may corrupt the file: then delete it.',
      see: 'See [what is kept](sqlite.md#what-is-kept).',
      example: 'sqliteStore(path, { durable: true })',
      avoid: 'Avoid it for short windows: every decision waits.',
    },
    maxBytes: {
      description:
        'The maximum size of the file, plus some MB for its log. A million keys take about 110 MB. When it is full, `onStoreError` decides.',
      example: 'sqliteStore(path, { maxBytes: 100_000_000 })',
      avoid: 'Avoid less than your clients need.',
    },
    clock: clock("the machine's, which its processes share", 'sqliteStore(path, '),
  },
}
