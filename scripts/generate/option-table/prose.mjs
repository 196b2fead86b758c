// The texts of the reference about each option, by the tables of options/table.ts.

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
        'The units that one key may use per window. A request costs one unit, unless `cost` says otherwise. 0 refuses everything.',
      example: "rateLimit({ limit: 100, window: '1m' })",
      avoid: 'Avoid it alone for requests that take minutes: add `concurrent`.',
    },
    window: {
      required: 'unless `policies` or `concurrent` is set',
      description:
        'The length of the window. A number is milliseconds; one below 1000 causes a [warning](errors.md#sluice_window_short). Calendar windows are fixed and begin at midnight in `timeZone`, on the day of `anchor`.',
      see: 'See [calendar windows](recipes.md#quotas-by-the-calendar) and [plans with different windows](recipes.md#plans-with-different-windows).',
      example: "createLimiter({ limit: 1000, window: '1d' })",
      avoid: 'Avoid long windows where clients must recover quickly.',
    },
    timeZone: {
      unset: "`'UTC'`",
      description: 'With a calendar `window`: where its days begin.',
      example: "createLimiter({ limit: 1000, window: 'day', timeZone: 'Europe/Berlin' })",
      avoid: "Avoid it with `'1d'`, which has no midnight.",
    },
    anchor: {
      unset: 'the 1st of the month, Monday',
      description:
        "With `window: 'month'`: the day on which months begin, in shorter months the last day. With `window: 'week'`: a date on whose weekday weeks begin. A function may return `undefined` for the default.",
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
        'The longest that an admitted request waits for its turn; one that would wait longer is refused.',
      example:
        "rateLimit({ limit: 10, window: '1s', algorithm: 'leaky-bucket', maxDelay: '500ms' })",
      avoid: 'Avoid more than clients wait.',
    },
    unit: {
      description:
        'What is counted. Header fields show the policy only if their profile has a word for the unit. In an adapter, every unit but `requests` needs a `cost` or `settle`.',
      see: 'See [budgets in tokens](recipes.md#budgets-in-tokens).',
      example: "rateLimit({ limit: 10_000, window: '1d', unit: 'tokens', cost: 500 })",
      avoid: 'Avoid it if you count requests.',
    },
    dryRun: {
      unset: '`false`',
      description:
        'The policy counts and reports, but refuses nothing. It does not charge what it would refuse. Decisions and events say `dryRun`; header fields list it only with the profile `dry-run`.',
      example:
        "createLimiter({ policies: [{ name: 'new', limit: 10, window: '1s', dryRun: true }] })",
      avoid: 'Avoid it for limits that protect you today.',
    },
    enforce: {
      unset: '1',
      description:
        'The share of the clients that the policy refuses, the same ones in every process; for all others it is a dry run. A larger share only adds clients.',
      see: 'See [introducing a limit](live-policies.md#introduce-a-limit-in-three-steps).',
      example: "createLimiter({ limit: 10, window: '1s', enforce: 0.1 })",
      avoid: 'Avoid it with `dryRun`.',
    },
    live: {
      unset: '`false`',
      form: '`true`, or an object with bounds: `{ limit: { min, max } }`',
      typescript: 'boolean | LiveBounds',
      description:
        'Lets a document in the store change `limit`, `burst`, `maxDelay`, `concurrent`, `alertAt`, `dryRun` and `enforce` while the application runs: every process applies a change within two seconds. The limiter, or the policy, needs a `name`.',
      see: 'See [live policies](live-policies.md).',
      errors: 'SLUICE_OPTION_TYPE SLUICE_OPTION_RANGE',
      example:
        "createLimiter({ name: 'api', limit: 100, window: '1m', live: { limit: { min: 10, max: 500 } } })",
      avoid: 'Avoid `true` if operators could mistype: set bounds.',
    },
    alertAt: {
      unset: 'none',
      description:
        'Shares of the limit. A charge or a settlement that reaches one causes an event in its process.',
      example: "createLimiter({ limit: 100, window: '1m', alertAt: [0.8, 1] })",
      avoid: 'Avoid it for anonymous clients: each causes events.',
    },
    reserve: {
      description:
        'The charge is an estimate: if the process dies before it settles, the units come back after `hold`. For fixed and sliding windows and token buckets. In an adapter, it needs `settle` and a `cost` above 0; with `createLimiter`, it applies to `acquire`.',
      see: 'See [reservations](plans.md#reservations).',
      example: `rateLimit({
  limit: 10_000,
  window: '1d',
  reserve: true,
  cost: 500,
  settle: (request) => request.body?.tokens,
})`,
      avoid: 'Avoid it if the cost is known beforehand.',
    },
  },
  concurrency: {
    concurrent: {
      required: 'unless `policies`, or `limit` and `window`, are set',
      description:
        'How many requests of one key may be in progress at the same time. A request holds a slot until the application has ended its response. 0 refuses everything.',
      see: 'See [requests in progress](recipes.md#requests-in-progress).',
      example: "rateLimit({ concurrent: 5, key: 'user' })",
      avoid: 'Avoid it for short requests: `limit` bounds their rate.',
    },
    hold: {
      description:
        'With `concurrent` or `reserve`: how long a slot stays taken, or an estimate charged, once its process stops renewing it, for example because it died. Processes renew three times within `hold`.',
      example: "rateLimit({ concurrent: 5, hold: '1m' })",
      avoid: 'Avoid short ones if the event loop stalls.',
    },
  },
  requestPolicy: {
    key: {
      typescript: 'KeyOption<Request>',
      inPolicies: "the limiter's `key`",
      description:
        'The key of a client: its address, the signed-in user, or the result of a function. Without a user, or if the function returns nothing, it is the address.',
      example: "rateLimit({ limit: 100, window: '1m', key: 'user' })",
      avoid: 'Avoid values that clients choose, such as headers.',
    },
    shard: {
      typescript: 'UserOption<Request>',
      unset: 'none',
      inPolicies: "the limiter's `shard`",
      description:
        'For a Redis Cluster: policies with the same shard keep their keys in one slot, so they are decided together. The key is then `{shard}key`, in every store.',
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
        'Returns what a request really cost, or `undefined` to keep the estimate. When the application has ended the response, Sluice calls it and charges or gives back the difference to `cost`, into debt if necessary.',
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
        'Policies that are decided together: all must admit a request, and none is charged if one refuses.',
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
      form: 'your Redis client, or a store',
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
        'Namespace of the keys in the store. Limiters on one store [share a count](http.md#several-limits) if prefix, policy name, algorithm and window are the same; Sluice warns, unless the second names its prefix.',
      example: "rateLimit({ store: redis, prefix: 'login', limit: 5, window: '15m' })",
      avoid: 'Avoid changing it: counts start again.',
    },
    ban: {
      form: 'object `{ after, within, for }`: 1 … 100 refusals, a duration, and an array of 1 … 10 durations',
      typescript: 'BanOptions',
      unset: 'none',
      description:
        'After `after` refusals of a key in the time `within`, all its requests are refused, on all routes, for the first duration of `for`, the next time for the second, and so on; the last one repeats. The key is that of the first policy.',
      see: 'See [bans](recipes.md#ban-clients-that-ignore-refusals).',
      errors: 'SLUICE_OPTION_TYPE SLUICE_OPTION_RANGE',
      example:
        "rateLimit({ limit: 5, window: '15m', ban: { after: 10, within: '1h', for: ['1h', '1d'] } })",
      avoid: 'Avoid it for addresses that many people share.',
    },
    deadline: {
      description:
        'The longest that a request waits for a remote store. After that `onStoreError` decides.',
      example: "rateLimit({ store: redis, limit: 100, window: '1m', deadline: '50ms' })",
      avoid: 'Avoid less than your store usually takes.',
    },
    onStoreError: {
      description:
        "Who decides while a remote store is down. `'local'`: this process, by the same policies, starting from what it has admitted itself. `'allow'` admits all requests, `'deny'` refuses all with 503.",
      see: 'See [failures](failures.md) and [operations](operations.md).',
      example: "rateLimit({ store: redis, limit: 100, window: '1m', onStoreError: 'deny' })",
      avoid: "Avoid `'deny'` if an outage costs more than abuse.",
    },
    localShare: {
      description:
        "With `onStoreError: 'local'`: the share of every limit that this process admits by itself while the store fails, at least one unit: 0.25 for four processes.",
      example: "rateLimit({ store: redis, limit: 100, window: '1m', localShare: 0.25 })",
      avoid: 'Avoid it with one process.',
    },
    refusalCache: {
      unset: 'true, unless something in this process settles on the same quota',
      description:
        'Whether a client that has nothing left is refused from memory, for at most 2 s or `lease`, before Sluice asks a remote store again. Until then, a `reset`, `settle`, `override` or `grant` of another process goes unnoticed.',
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
        'The most requests of this limiter that wait in this process: for their turn in a leaky bucket and, counted separately, in `wait` and `acquire`. Further ones are refused. One key gets at most half of the places.',
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
      avoid: 'Avoid names made of input: metrics would grow.',
    },
    onDecision: {
      typescript: '(decision: Decision, request: Request, key: string) => void',
      unset: 'none',
      description:
        'Called with every decision, for logs and metrics; in `createLimiter` for `consume`, `acquire` and `wait`, without a request.',
      example:
        "createLimiter({ limit: 100, window: '1m', onDecision: ({ allowed }) => console.log(allowed) })",
      avoid: 'Avoid slow work: requests wait for it.',
    },
    onThreshold: {
      typescript: '(event: ThresholdEvent) => void',
      unset: 'none',
      description:
        'Called with the event of `sluice:threshold` when a charge brings a key to a share of its limit that `alertAt` lists.',
      see: 'See [thresholds](events.md#sluicethreshold).',
      example:
        "createLimiter({ limit: 100, window: '1m', alertAt: [0.8], onThreshold: console.log })",
      avoid: 'Avoid it for billing: a crash loses events.',
    },
    keySecret: {
      unset: 'none',
      description:
        "Adds `keyHash` to the events of refusals and bans: an HMAC-SHA-256 of the client's key, in base64url.",
      example: "createLimiter({ limit: 100, window: '1m', keySecret: process.env.KEY_SECRET })",
      avoid: 'Avoid one that differs by process.',
    },
  },
  http: {
    user: {
      typescript: 'UserOption<Request>',
      unset: "the framework's user if it is text or a number, otherwise its `id` or `sub`",
      description: "The user's id for `key: 'user'`, or undefined if nobody is signed in.",
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
        'The longest that a request waits instead of being refused; one that would wait longer is refused at once. At most `maxWaiting` wait, and clients take turns.',
      see: 'See [requests that wait](waiting.md#requests-that-wait).',
      example: "rateLimit({ limit: 10, window: '1s', maxWait: '2s' })",
      avoid: "Avoid it with `'leaky-bucket'`, which has `maxDelay`.",
    },
    priority: {
      description:
        'Among the requests that wait for a key, those with a higher number come first. Only with `maxWait`.',
      example: "rateLimit({ limit: 10, window: '1s', maxWait: '2s', priority: () => 1 })",
      avoid: 'Avoid one that clients can choose.',
    },
    skip: {
      typescript: '(request: Request, key: () => MaybePromise<string>) => MaybePromise<boolean>',
      unset: 'none',
      description:
        'Requests for which it returns true are neither limited nor counted. `key()` reads the key of the request; await it.',
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
        'Clients that are always refused with 403, even their preflights. A client on both lists is refused.',
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
      avoid: 'Avoid `false` if clients can pace themselves.',
    },
    upstreamHeaders: {
      description:
        "What happens to rate-limit fields that the application sets after Sluice, such as those of a service behind a gateway. `'keep'`: they win. `'remove'`: the response has only the fields of `headers`, unless the request is exempt.",
      example: "rateLimit({ limit: 100, window: '1m', upstreamHeaders: 'remove' })",
      avoid: "Avoid `'remove'` if clients need the service's limits.",
    },
    retryAfterJitter: {
      description:
        'The share of the wait that is added to `Retry-After` at random, upward only, at most 30 s.',
      example: "rateLimit({ limit: 100, window: '1m', retryAfterJitter: 0.3 })",
      avoid: 'Avoid 0: clients refused together would return together.',
    },
    partitionSecret: {
      unset: 'none',
      description: "Adds a partition key (`pk`) to the fields: an HMAC of the client's key.",
      example:
        "rateLimit({ limit: 100, window: '1m', partitionSecret: process.env.PARTITION_SECRET })",
      avoid: 'Avoid one that differs by process.',
    },
    statusCode: {
      description:
        'The status of a refusal. The body of 403 and 404 does not say why. A banned client gets 429 instead of 402 or 503.',
      example: "rateLimit({ limit: 100, window: '1m', statusCode: 503 })",
      avoid: 'Avoid 503 behind balancers that drop servers for it.',
    },
    respond: {
      typescript:
        "'throw' | 'continue' | ((decision: Decision, request: Request, response: Response, key: string) => unknown)",
      unset: 'problem+json (RFC 9457)',
      description:
        "Writes the body of the refusal, or returns it: text, an object for JSON, or a `Response`. Sluice has already set the status and the header fields. A refusal that it neither sends nor returns gets the default body after a second, with a warning. `'throw'` hands the refusal to the application's error handler, as a `RateLimitError`. `'continue'` lets a refused request go on: it is not charged, and its decision says so. `deny` and `onStoreError` still refuse, with the default body.",
      example:
        "rateLimit({ limit: 100, window: '1m', respond: ({ retryAfterMs }) => ({ retryAfterMs }) })",
      avoid: "Avoid `'continue'` unless your handler reads the decision.",
    },
    dryRun: {
      description: 'Decides, counts and reports, but never refuses and sends no fields.',
      example: "rateLimit({ limit: 100, window: '1m', dryRun: true })",
      avoid: 'Avoid it for limits that protect you today.',
    },
  },
  adapter: {
    address: {
      typescript: '(context: Context) => string | undefined',
      unset: 'none: an error, unless `key` or `trustProxy` says who the client is',
      description:
        "Hono and the Fetch standard: returns the client's address, which their requests lack. For `limitFetch`, it gets the handler's arguments.",
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
        'Not in Fastify and Nest: options that differ by route. The most specific entry wins, one with a method before one without. `false` exempts the route. Below a mount point, write the whole path or the relative one.',
      errors: 'SLUICE_OPTION_TYPE SLUICE_ROUTE',
      example:
        "rateLimit({ limit: 100, window: '1m', routes: { 'POST /login': { limit: 5 }, '/health': false } })",
      avoid: 'Avoid patterns that match no route.',
    },
    hook: {
      description:
        "Fastify: when requests are decided, also per route. `'onRequest'`: before the body is read. `'preValidation'`: after it is parsed. `'preHandler'`: after it is validated, when the application knows the user.",
      example: `import { rateLimit } from '@sluice/fastify'

await app.register(rateLimit, { limit: 100, window: '1m', hook: 'preHandler' })`,
      avoid: 'Avoid late hooks: refused bodies are parsed.',
    },
  },
  overload: {
    classOf: {
      typescript: '(request: Request) => Class',
      unset: 'all requests are in one class',
      description:
        'The class of a request. Decide by what the server knows, such as the route or the user of a verified token. Called for every request. A name that is not in `classes` counts as the last one.',
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
        'The classes, the most important first, at most 16. Requests of earlier classes begin first; those of later classes are shed first.',
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
        'How many requests may wait, and for how long. Under overload, fewer wait, and for less time.',
      errors: 'SLUICE_OPTION_TYPE SLUICE_OPTION_RANGE',
      example: `import { shedLoad } from '@sluice/express/overload'

shedLoad({ queue: { max: 100, maxWait: '500ms' } })`,
      avoid: 'Avoid waits longer than clients accept.',
    },
  },
  memoryStore: {
    maxKeys: {
      description:
        'The most keys that the store keeps, for all its limiters; a key with three policies counts three times. A full store removes expired keys first, then those nearest to a full quota, but never one that is being refused: if all are, new keys share one quota. A million keys need about 60 MB plus their text.',
      example: 'memoryStore({ maxKeys: 100_000 })',
      avoid: 'Avoid fewer keys than clients.',
    },
    clock: {
      unset: 'the wall clock',
      description: 'The clock.',
      example: 'memoryStore({ clock: () => 1_800_000_000_000 })',
      avoid: 'Avoid it outside tests.',
    },
  },
  redisStore: {
    clock: {
      unset: "the server's `TIME`, read by the script",
      description: 'The clock.',
      example: 'redisStore(redis, { clock: () => 1_800_000_000_000 })',
      avoid: 'Avoid it outside tests.',
    },
    onReadOnly: {
      typescript: '() => unknown',
      unset: 'none',
      description:
        'Called at most once a second while the server says that it is a read-only replica. Make the client reconnect here. May be async; what it throws becomes a warning.',
      see: 'node-redis needs it, ioredis has [its own option](redis.md#after-a-failover).',
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
        'Whether the table that `migrate()` creates survives a crash of the server, at the cost of many more writes.',
      see: 'See [what a crash means](postgresql.md#what-a-crash-means).',
      example: 'postgresStore(pool, { logged: true })',
      avoid: 'Avoid it for short windows: it costs more than it keeps.',
    },
    clock: {
      unset: "the server's `clock_timestamp()`",
      description: 'The clock.',
      example: 'postgresStore(pool, { clock: () => 1_800_000_000_000 })',
      avoid: 'Avoid it outside tests.',
    },
  },
  sqliteStore: {
    driver: {
      form: 'a class: `Database` of better-sqlite3',
      typescript:
        'new (path: string) => { exec(sql: string): unknown; prepare(sql: string): object; close(): unknown }',
      unset: '`DatabaseSync` of `node:sqlite`, from Node 22.13 on',
      description:
        'The driver that opens the file. Processes may use different ones, the threads of one process must not.',
      example: 'sqliteStore(path, { driver: Database })',
      avoid: 'Avoid two drivers in a process.',
    },
    durable: {
      description:
        'Whether each decision waits for the disk. Without it, counts survive the end of a process, but a power failure may corrupt the file.',
      see: 'See [what is kept](sqlite.md#what-is-kept).',
      example: 'sqliteStore(path, { durable: true })',
      avoid: 'Avoid it for short windows: every decision waits.',
    },
    maxBytes: {
      description:
        'How large the file may become, not counting some MB for its log. A million keys take about 110 MB. When it is full, `onStoreError` decides.',
      example: 'sqliteStore(path, { maxBytes: 100_000_000 })',
      avoid: 'Avoid less than your clients need.',
    },
    clock: {
      unset: "the machine's, which its processes share",
      description: 'The clock.',
      example: 'sqliteStore(path, { clock: () => 1_800_000_000_000 })',
      avoid: 'Avoid it outside tests.',
    },
  },
}
