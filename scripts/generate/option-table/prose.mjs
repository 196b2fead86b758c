// The texts of the reference about each option, by the tables of options/table.ts.

/**
 * `description`: what it does, in sentences, as Markdown; its values and its default are not repeated.
 * `unset`: what happens if an option without a default is not set. `required`: when it must be set.
 * `inPolicies`: its default in an entry of `policies`. `see`: where to read more. `form` and `typescript`: its
 * values in words and in TypeScript, where these are not those of its type.
 */
export const PROSE = {
  policy: {
    name: {
      description:
        'Identifies the policy in decisions, header fields and keys. Two policies of a limiter cannot have names that differ only in case.',
    },
    limit: {
      required: 'unless `policies` or `concurrent` is set',
      description:
        'The units that one key may use per window. A request costs one unit, unless `cost` says otherwise. 0 refuses everything.',
    },
    window: {
      required: 'unless `policies` or `concurrent` is set',
      description:
        'The length of the window. A number is milliseconds; one below 1000 causes a [warning](errors.md#sluice_window_short), because seconds were probably meant. A unit of the calendar: fixed windows that begin at midnight in `timeZone`, on the day that `anchor` says. Then decisions and header fields have 7 days or 31 days as the length of a week or a month. Each length that a function returns has its own quota; a process accepts 16 of them.',
      see: 'See the recipes of [calendar windows](recipes.md#quotas-by-the-calendar) and of [plans with different windows](recipes.md#plans-with-different-windows).',
    },
    timeZone: {
      unset: "`'UTC'`",
      description: 'With a `window` of the calendar: where its days begin.',
    },
    anchor: {
      unset: 'the 1st of the month, Monday',
      description:
        "With `window: 'month'`: the day on which months begin; in a shorter month it is the last day. With `window: 'week'`: a date whose weekday weeks begin on. A function may return `undefined` for the default. If the day of a client changes, the window that has begun ends when it said, and the new day counts from there.",
    },
    algorithm: {
      description: 'How the units are counted.',
      see: 'See [the five algorithms](algorithms.md) and [choosing a limit](choosing.md).',
    },
    burst: {
      unset: 'the default of the algorithm',
      description: 'The size of the full bucket.',
    },
    maxDelay: {
      unset: 'the default of the algorithm',
      description:
        'The longest that an admitted request waits for its turn. A request that would wait longer is refused.',
    },
    unit: {
      description:
        'The unit that is counted. Clients see the policy if the header profile has a word for its unit. In an adapter, every unit but `requests` needs a `cost` or `settle`.',
      see: 'See [budgets in tokens](recipes.md#budgets-in-tokens).',
    },
    dryRun: {
      unset: '`false`',
      description:
        'The policy counts and reports, and refuses nothing: the other policies decide as if it were not there. What it would refuse it does not charge. Decisions and events say `dryRun`; header fields list it only with the profile `dry-run`.',
      see: 'See [introducing a limit](live-policies.md#introduce-a-limit-in-three-steps).',
    },
    enforce: {
      unset: '1',
      description:
        'The share of the clients that the policy refuses; for all others it is a dry run. A hash of the key and of the names of limiter, policy and route chooses them: the same ones in every process, and a larger share only adds clients.',
      see: 'See [introducing a limit](live-policies.md#introduce-a-limit-in-three-steps).',
    },
    live: {
      unset: '`false`',
      form: '`true`, or an object with bounds: `{ limit: { min, max } }`',
      typescript: 'boolean | LiveBounds',
      description:
        'Lets a document in the store change `limit`, `burst`, `maxDelay`, `concurrent`, `alertAt`, `dryRun` and `enforce` while the application runs: every process has a change within two seconds. The options are what holds without a document. The limiter, or the policy, needs a `name`.',
      see: 'See [live policies](live-policies.md).',
    },
    alertAt: {
      unset: 'none',
      description:
        'Shares of the limit. The one request whose charge brings what is used to such a share causes an event, in its process; so does a settlement. Nothing is stored for it.',
      see: 'See [thresholds](events.md#sluicethreshold).',
    },
    reserve: {
      description:
        'With fixed and sliding windows and token buckets: the charge is an estimate that ends with its process. If that dies before it has settled, the charge is given back after `hold`. In an adapter with `settle` and a `cost` above 0; with `createLimiter` it is what `acquire` charges.',
      see: 'See [reservations](plans.md#reservations).',
    },
  },
  concurrency: {
    concurrent: {
      required: 'unless `policies`, or `limit` and `window`, are set',
      description:
        'The requests of one key that may be in progress at the same time. A request uses a slot until the application has ended its response. 0 refuses everything.',
      see: 'See [requests in progress](recipes.md#requests-in-progress).',
    },
    hold: {
      description:
        'With `concurrent` or `reserve`: how long a slot stays in use, or an estimate charged, if its process no longer renews it, because the process died or the client has left a request that never ends. In Hono: also after the client has left a stream, or if nobody reads it. A process renews its slots three times in this time.',
    },
  },
  requestPolicy: {
    key: {
      typescript: 'KeyOption<Request>',
      inPolicies: "the limiter's `key`",
      description:
        'The key of a client: its address, the signed-in user, or the result of a function. Without a user, or if the function returns nothing, it is the address.',
    },
    shard: {
      typescript: 'UserOption<Request>',
      unset: 'none',
      inPolicies: "the limiter's `shard`",
      description:
        'For a Redis Cluster: policies that have the same shard keep their keys in one slot, so they are decided together, all or nothing. The key is then `{shard}key`, in every store.',
      see: 'See [budgets in levels on a cluster](plans.md#levels-in-a-redis-cluster).',
    },
    cost: {
      inPolicies: "the limiter's `cost`",
      description:
        'The cost of a request. A number above the limit is an error: no request could ever be admitted.',
    },
    settle: {
      typescript: 'SettleOption<Request, Response>',
      unset: 'none',
      inPolicies: "the limiter's `settle`, unless the policy has a `cost` of its own",
      description:
        'Returns what a request has really cost, or `undefined` to keep the estimate. Called when the application has ended the response: the difference to `cost` is given back or charged, into debt if necessary. Also called before, when the client leaves and once per window of a slow response: then what the request has cost so far is charged, and nothing is given back.',
      see: 'See [costs known afterwards](settle.md).',
    },
  },
  policies: {
    policies: {
      form: 'array of 1 to 32 policies',
      typescript: '',
      unset: 'one policy, from the options themselves',
      description:
        'Policies that are decided together: all must admit a request, and none is charged if one refuses.',
    },
  },
  store: {
    store: {
      form: 'a client of Redis as it is, or a store',
      typescript: 'StoreOption<M>',
      unset: 'a memory store of its own',
      description: 'Where the counts are kept.',
      see: 'See [the stores](../packages/core/README.md#stores) and [a store of your own](stores.md).',
    },
    prefix: {
      description:
        'Namespace of the keys in the store. Two limiters on one store share a count if their prefixes and the name, algorithm and window of the policy are the same. Sluice warns of that unless the second names its prefix. In one process it is an error if their limits differ: give one of them a prefix of its own.',
    },
    ban: {
      form: 'object `{ after, within, for }`: 1 … 100 refusals, a duration, and an array of 1 … 10 durations',
      typescript: 'BanOptions',
      unset: 'none',
      description:
        'After so many refusals of a key `within` a duration, everything of that key is refused, on all routes, for the first duration of the list `for`; after the next ones for the next, and so on; the last one repeats. Once `within` has passed without a refusal after the last ban, all is forgotten. The key is that of the first policy. What is refused during a ban is not counted.',
      see: 'See [bans](recipes.md#ban-clients-that-ignore-refusals).',
    },
    deadline: {
      description:
        'The longest that a request waits for a remote store. After that `onStoreError` decides.',
    },
    onStoreError: {
      description:
        "Decides while a remote store fails. `'local'`: this process, with the same policies, starting from what it has admitted itself. `'allow'`: all requests are admitted. `'deny'`: all are refused, with 503.",
      see: 'See [failures](failures.md) and [operations](operations.md).',
    },
    localShare: {
      description:
        "With `onStoreError: 'local'`: the share of every limit that this process admits by itself while the store fails, at least one unit: 0.25 if four processes share the load. What the store still has left when it is back comes on top.",
    },
    refusalCache: {
      unset: 'true, unless something in this process settles on the same quota',
      description:
        'Whether a client that has nothing left is refused from memory, for at most 2 s before a remote store is asked again. What another process changes, by `reset`, `settle`, `override` or `grant`, is seen no sooner.',
    },
    maxWaiting: {
      description:
        'How many requests of this limiter wait in this process at most: for their turn in a leaky bucket, and, counted apart, in `wait` and `acquire`. Further ones are refused. A key gets another place only while it has fewer than are free, so a single key gets at most half of them.',
      see: 'See [waiting](waiting.md).',
    },
  },
  events: {
    name: {
      unset: 'none',
      description: 'Identifies the limiter in events and metrics.',
      see: 'See [events](events.md).',
    },
    onDecision: {
      typescript: '(decision: Decision, request: Request, key: string) => void',
      unset: 'none',
      description:
        'Called with every decision, for logs and metrics; of `createLimiter` with those of `consume`, `acquire` and `wait`, without a request.',
    },
    onThreshold: {
      typescript: '(event: ThresholdEvent) => void',
      unset: 'none',
      description:
        'Called when a charge has brought a key to a share of its limit that `alertAt` lists, with the event that `sluice:threshold` publishes.',
      see: 'See [thresholds](events.md#sluicethreshold).',
    },
    keySecret: {
      unset: 'none',
      description:
        "With a secret, the events of refusals and bans have `keyHash`: an HMAC-SHA-256 of the client's key, in base64url.",
      see: 'See [events](events.md).',
    },
  },
  http: {
    user: {
      typescript: 'UserOption<Request>',
      unset: "the framework's user if it is text or a number, otherwise its `id` or `sub`",
      description: "The user's id for `key: 'user'`, or undefined if nobody is signed in.",
    },
    trustProxy: {
      form: 'addresses, CIDRs and the names `loopback`, `linklocal`, `uniquelocal`; a number of hops; a function `(address, hop) => boolean`; or `{ proxies, header }`, with one of these and the name of the field',
      typescript: 'TrustProxyOption',
      unset: "the framework's own setting",
      description:
        "Which proxies to trust about the client's address, and which field they write: `X-Forwarded-For`, or `header: 'Forwarded'` (RFC 7239). The other field is not read.",
      see: "The framework's own setting is Express's `trust proxy`, Fastify's `trustProxy`, and Koa's `proxy` with `maxIpsCount`. See [security](security.md).",
    },
    ipv6Prefix: {
      description: 'IPv6 addresses that have so many bits in common share a key.',
    },
    maxWait: {
      unset: 'a request is refused at once',
      description:
        'A request that would be refused waits until it is admitted, for at most so long. If it is certain that the wait is not met, it is refused at once. At most `maxWaiting` wait, and the requests of clients take turns.',
      see: 'See [requests that wait](waiting.md#requests-that-wait).',
    },
    priority: {
      description:
        'Among the requests that wait for a key, those with a higher number come first. Only with `maxWait`.',
    },
    skip: {
      typescript: '(request: Request, key: () => MaybePromise<string>) => MaybePromise<boolean>',
      unset: 'none',
      description:
        'Requests for which it returns true are neither limited nor counted. `key()` reads the key of the request, once; await it, because a key function may be async.',
    },
    allow: {
      form: 'array of addresses, CIDRs and keys',
      typescript: 'readonly string[]',
      unset: 'none',
      description: 'Clients that are never limited nor counted.',
    },
    deny: {
      form: 'array of addresses, CIDRs and keys',
      typescript: 'readonly string[]',
      unset: 'none',
      description:
        'Clients that are always refused, with 403, their preflights too. A client on both lists is refused.',
    },
    headers: {
      form: 'a profile, an array of compatible ones, or `false`',
      typescript: 'HeaderProfile | readonly HeaderProfile[] | false',
      description:
        'Which rate-limit fields responses have. `Retry-After` is sent with every refusal, even with `false`. Fields that the application sets later win, unless `upstreamHeaders` removes them.',
      see: 'See [the profiles](#header-profiles).',
    },
    upstreamHeaders: {
      description:
        "What becomes of rate-limit fields that the application sets after Sluice, such as those of a service behind a gateway. `'keep'`: they win. `'remove'`: the response has the fields of `headers` alone. An exempt request keeps them.",
    },
    retryAfterJitter: {
      description:
        'The share of the wait that is added to `Retry-After` at random, upward only, at most 30 s. So clients that were refused together do not return together.',
    },
    partitionSecret: {
      unset: 'none',
      description:
        "With a secret, the fields have a partition key (`pk`): an HMAC of the client's key.",
    },
    statusCode: {
      description:
        'The status of a refusal. The body of 403 and 404 does not say why. A banned client gets 429 in place of 402 and 503.',
    },
    respond: {
      typescript:
        "'throw' | 'continue' | ((decision: Decision, request: Request, response: Response, key: string) => unknown)",
      unset: 'problem+json (RFC 9457)',
      description:
        "Writes the body of the refusal, or returns it: text, an object for JSON, or a `Response`. Status and header fields are set already. A refusal that it neither sends nor returns gets the default body after a second, with a warning (`SLUICE_UNANSWERED`). `'throw'` hands the refusal to the application's error handler, as a `RateLimitError`. `'continue'` lets a request go on that a policy refuses: it is not charged, and the decision on the request says so. Clients on `deny`, and those that `onStoreError` refuses, are refused with the default body.",
    },
    dryRun: {
      description: 'Decides, counts and reports, but never refuses and sends no fields.',
    },
  },
  adapter: {
    address: {
      typescript: '(context: Context) => string | undefined',
      unset: 'none: an error, unless `key` or `trustProxy` says who the client is',
      description:
        "Hono and the Fetch standard, whose requests do not have the client's address: returns it. For `limitFetch` it gets the arguments of the handler.",
    },
    routes: {
      form: "object: `{ 'POST /login': { limit: 5, window: '15m' }, '/health': false }`",
      typescript: '',
      unset: 'none',
      description:
        'Express, Koa, Hono, Node and the Fetch standard: options that differ by route. The most specific entry wins, one with a method before one without. `false` exempts the route. Of a limiter that is mounted below the root, a path is the whole one or the one relative to there.',
    },
    hook: {
      description:
        "Fastify: when requests are decided, also per route. `'onRequest'`: before anything of the body is read. `'preValidation'`: when the body is parsed. `'preHandler'`: when it is validated, and the application knows the user.",
    },
  },
  overload: {
    classOf: {
      typescript: '(request: Request) => Class',
      unset: 'all requests are in one class',
      description:
        'The class of a request. Decide by what the server knows of it, such as its route or the user that a token proves: a class that a client can claim by itself protects nobody. It is called for every request, and must not be async. Names that are none of the `classes` count as the last one.',
    },
    classes: {
      form: 'object: `{ critical: { reserve: 0.3 }, normal: {}, batch: {} }`',
      typescript: 'Readonly<Record<Class, ClassOptions>>',
      unset: 'one class',
      description:
        'The classes in the order of their importance, at most 16. Of those that wait, the more important ones begin first; if there is no room, the less important ones are shed first.',
    },
    queue: {
      form: 'object: `{ max, maxWait }`',
      typescript: 'QueueOptions',
      unset: "`{ max: 200, maxWait: '1s' }`",
      description:
        'How many requests may wait, and for how long. While more arrives than the process can do, fewer wait, and for less time.',
    },
  },
  memoryStore: {
    maxKeys: {
      description:
        'The most keys that are kept, over all limiters that use the store. A key with three policies counts three times. When the store is full, expired keys are removed first, then those nearest to a full quota. A key that is being refused is never removed: if all keys are, new keys share one quota. A million keys need about 60 MB, and the keys themselves.',
    },
    clock: {
      unset: 'the wall clock; a turn of the event loop that asks often stops reading it',
      description: 'A clock for tests.',
    },
  },
  redisStore: {
    clock: {
      unset: "the server's `TIME`, read by the script",
      description: 'A clock for tests.',
    },
    onReadOnly: {
      typescript: '() => unknown',
      unset: 'none',
      description:
        'Called, at most once in 1,000 ms, when the server says that it is a read-only replica: after a failover the client may still be connected to the old master. Sluice never touches the connection of the client, so make the client reconnect here. May be async; what it throws becomes a warning.',
      see: 'node-redis needs it, ioredis has [an option of its own](redis.md#after-a-failover).',
    },
  },
  postgresStore: {
    schema: {
      description: 'The schema of the table `sluice_states`.',
    },
    logged: {
      description:
        'Whether the table that `migrate()` creates survives a crash of the server. An UNLOGGED table is empty after a crash and after a failover: all quotas are full again, and blocks are gone. It writes much less.',
      see: 'See [what a crash means](postgresql.md#what-a-crash-means).',
    },
    clock: {
      unset: "the server's `clock_timestamp()`",
      description: 'A clock for tests.',
    },
  },
  sqliteStore: {
    driver: {
      form: 'a class: `Database` of better-sqlite3',
      typescript:
        'new (path: string) => { exec(sql: string): unknown; prepare(sql: string): object; close(): unknown }',
      unset: '`DatabaseSync` of `node:sqlite`, which Node has from 22.13 on',
      description:
        'The driver that opens the file. The processes of a machine may use different ones, the threads of a process must not.',
    },
    durable: {
      description:
        'Whether each decision waits until the disk has it. Without it counts survive the end of any process, but after a loss of power the file may be corrupt: delete it then.',
      see: 'See [what is kept](sqlite.md#what-is-kept).',
    },
    maxBytes: {
      description:
        'How large the file may become; its log comes on top, some MB. A million keys take about 110 MB. When it is full, requests are decided as `onStoreError` says.',
    },
    clock: {
      unset: "the machine's, which its processes share",
      description: 'A clock for tests.',
    },
  },
}
