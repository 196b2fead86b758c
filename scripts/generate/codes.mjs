// The texts of docs/errors.md about each code, as Markdown, by section: what its message says in general, the
// usual causes, and what to do. Each store has what to do about its set-up, for its messages.

import { core, source } from './core.mjs'

const { REDIS_ACTIONS } = await core('stores/redis/setup-actions.ts')
const { POSTGRES_ACTIONS } = await source('postgres/src/setup-actions.ts')
const { MYSQL_ACTIONS } = await source('mysql/src/setup-actions.ts')
const { DYNAMODB_ACTIONS } = await source('dynamodb/src/setup-actions.ts')
const { SQLITE_ACTIONS } = await source('sqlite/src/setup-actions.ts')
export const SETUP_ACTIONS = {
  ...REDIS_ACTIONS,
  ...POSTGRES_ACTIONS,
  ...MYSQL_ACTIONS,
  ...DYNAMODB_ACTIONS,
  ...SQLITE_ACTIONS,
}

export const CODES = {
  misuse: {
    SLUICE_OPTION_TYPE: {
      meaning: 'An option or an argument has the wrong type.',
      cause:
        'A number from the environment that is still text, a required option that is missing, or `app.use(rateLimit)` instead of `app.use(rateLimit({ … }))`.',
      action:
        'Give the type that the message names. Convert text yourself: `Number(process.env.LIMIT)`.',
    },
    SLUICE_OPTION_RANGE: {
      meaning: 'An option or an argument is out of range.',
      cause:
        'A negative number, a fraction, `NaN`, `Infinity`, or a number above what Sluice can count exactly.',
      action: 'Give a value within the range that the message names.',
    },
    SLUICE_OPTION_VALUE: {
      meaning: 'An option or an argument is not one of its possible values.',
      cause: 'A typing error, or a name from another library.',
      action: 'Choose one of the values that the message lists.',
    },
    SLUICE_OPTION_UNKNOWN: {
      meaning: 'There is no option of this name, or not in this place.',
      cause:
        'A typing error, an option of another library, or an option of the whole limiter in a single policy or route.',
      action:
        'Remove it or correct its name. [Migrating](migrating.md) maps the options of other libraries.',
    },
    SLUICE_OPTION_CONFLICT: {
      meaning: 'Options contradict each other.',
      cause:
        '`policies` together with `limit`, two policies of one name, a cost above the limit, or two limiters with different limits that would share one count (same store, `prefix`, policy name, algorithm and window).',
      action: 'Change one of the options as the message says.',
    },
    SLUICE_STORE_UNKNOWN: {
      meaning:
        '`store` is neither a store nor a Redis client that Sluice knows; or the pool of `postgresStore` is not one of pg or postgres.js, or that of `mysqlStore` not one of mysql2/promise; or the client of `dynamodbStore` not of DynamoDB; or the path of `sqliteStore` is not a path.',
      cause:
        'A URL, a promise of a client, a mock (ioredis-mock), node-redis 4, a pool of pg, a store of another limiter, or a pipeline of a client.',
      action:
        'Give a client itself, such as `new Redis(url)` of ioredis or `createClient({ url })` of node-redis, or `memoryStore()`, `postgresStore(pool)`, `mysqlStore(pool)`, `dynamodbStore(client)`, `sqliteStore(path)`, or [a store of your own](stores.md).',
    },
    SLUICE_KEY: {
      meaning: 'The key names no single client.',
      cause: 'It is missing, empty, not text, or a network.',
      action: 'Pass text that identifies one client. To block a network, add `{ network: true }`.',
    },
    SLUICE_HEADERS: {
      meaning:
        '`headers` names a profile that does not exist, or two that cannot be sent together.',
      cause:
        "Drafts 7 and 8 to 11 give the field `RateLimit` different forms, so a response can't have both.",
      action:
        "Choose one, such as `'draft-11'`, or `['draft-11', 'draft-6']` for new and old clients; `false` sends no fields.",
    },
    SLUICE_TRUST_PROXY: {
      meaning: '`trustProxy` does not say which proxies to trust.',
      cause:
        '`true` is refused: each client could write an address into `X-Forwarded-For` and get a new limit for each request.',
      action:
        "Name your proxies: `trustProxy: ['loopback', '10.0.0.0/8']`. Or give their number, if every request passes them all.",
    },
    SLUICE_CIDR: {
      meaning:
        'An entry of `allow` or `deny`, or the network given to `block` or `reset`, is not a valid range of addresses, or is too large.',
      cause:
        'The address is not valid, or the prefix is too long. `block` refuses prefixes below 8 bits for IPv4 and 16 for IPv6, which are probably mistakes.',
      action: 'Use 1 to 32 bits for IPv4, 1 to 128 for IPv6. To refuse more than a /8, use `deny`.',
    },
    SLUICE_NETWORKS_FULL: {
      meaning: '10,000 networks are blocked under this prefix already.',
      cause: 'Each attacking address is blocked as a network of its own.',
      action:
        'Block the network that they share, or end blocks (`sluice top` lists them). `block(key)` has no such limit.',
    },
    SLUICE_POLICY_UNKNOWN: {
      meaning: 'No application has a `live` policy of this name under this prefix.',
      cause:
        'A typing error, another `prefix`, a policy without `live`, or an application that has had no request yet.',
      action: 'Choose one of the names that the message lists.',
    },
    SLUICE_POLICY_CHANGED: {
      meaning: 'Somebody else has changed the settings since you looked. Nothing was changed.',
      cause: 'Two people or programs change settings at the same time.',
      action: 'Look again (`sluice policy history`), and repeat the change if it is still right.',
    },
    SLUICE_POLICIES_FULL: {
      meaning:
        'There are too many settings: of 1,000 policies, or 10 of one policy that end by themselves.',
      cause: 'A program adds settings and never ends them.',
      action: 'End settings that are no longer needed.',
    },
    SLUICE_SECRET: {
      meaning: '`partitionSecret` or `keySecret` is too short.',
      cause: 'It has fewer than 16 characters, or is not text.',
      action: 'Take it from the environment or a secret store, the same in every process.',
    },
    SLUICE_ROUTE: {
      meaning: 'A key of `routes` is not a route.',
      cause:
        'It does not start with a path or a method in capitals, or the framework could not match it.',
      action:
        "Write it as the framework's router would: `'POST /login'`, `'/search/:id'`, `'/files/*path'`.",
    },
    SLUICE_REQUEST: {
      meaning:
        'A middleware got a request, response or context that is not one of its framework, or a function limited by `limitFetch` did not return a `Response`.',
      cause:
        'In a test, an object without what the middleware needs (`setHeader`, `req`). In an application, the package of another framework, or a handler without `return`.',
      action:
        'Use the package of your framework, and return a response. In a test, send a real request (supertest, `app.inject`, `app.request`) or use node-mocks-http.',
    },
  },
  setup: {
    SLUICE_REDIS_NOT_CONNECTED: {
      meaning: 'The node-redis client is not connected.',
      cause: 'node-redis does not connect by itself, or the client was closed.',
    },
    SLUICE_REDIS_AUTH: {
      meaning: 'Redis refuses the credentials.',
      cause: 'The password is missing or wrong.',
    },
    SLUICE_REDIS_FORBIDDEN: {
      meaning: 'The Redis user is not permitted to run the script.',
      cause: 'Its ACL lacks a command or the keys that the script uses.',
    },
    SLUICE_REDIS_CLUSTER: {
      meaning: 'The client knows a single node of a Redis Cluster.',
      cause: 'It was made for one server, and this node does not have all keys.',
    },
    SLUICE_REDIS_NO_SCRIPTS: {
      meaning: 'The server runs no Lua scripts.',
      cause: '`EVAL` was disabled or renamed, or the Lua module of Valkey is missing.',
    },
    SLUICE_REDIS_READONLY: {
      meaning: 'The server is a read-only replica.',
      cause: 'It was the master until a failover, and the client is still connected to it.',
    },
    SLUICE_POSTGRES_TABLE: {
      meaning: 'PostgreSQL does not have the table of the store.',
      cause: 'It was not created yet, or it is in another schema or database.',
    },
    SLUICE_POSTGRES_FORBIDDEN: {
      meaning: 'The PostgreSQL user is not permitted to use the table, or to create it.',
      cause: 'It lacks a privilege on the schema or on the table.',
    },
    SLUICE_POSTGRES_AUTH: {
      meaning: 'PostgreSQL refuses the credentials.',
      cause:
        'The user, the password or the database is wrong, or `pg_hba.conf` does not let it in.',
    },
    SLUICE_POSTGRES_READONLY: {
      meaning: 'The server does not accept writes.',
      cause:
        'It is a replica to which the pool is still connected after a failover, or `default_transaction_read_only` is set.',
    },
    SLUICE_MYSQL_TABLE: {
      meaning: 'MySQL does not have the table of the store, or not all of it.',
      cause: 'It was not created yet, or is elsewhere.',
    },
    SLUICE_MYSQL_FORBIDDEN: {
      meaning: 'The MySQL user is not permitted to use the table, or to create it.',
      cause: 'It lacks a privilege on the database or on the table.',
    },
    SLUICE_MYSQL_AUTH: {
      meaning: 'MySQL refuses the credentials.',
      cause: 'The user, its host, the password or the database is wrong.',
    },
    SLUICE_MYSQL_READONLY: {
      meaning: 'The server does not accept writes.',
      cause: 'It is a replica, after a failover.',
    },
    SLUICE_MYSQL_VERSION: {
      meaning: 'The server is too old. `migrate()` throws this error.',
      cause: 'It is older than MySQL 8.0 or MariaDB 10.6.',
    },
    SLUICE_DYNAMODB_TABLE: {
      meaning: 'The table is missing, or has another key.',
      cause: 'It was not created, or is elsewhere.',
    },
    SLUICE_DYNAMODB_FORBIDDEN: {
      meaning: 'The role may not use the table, or create it.',
      cause: 'Its IAM policy lacks an action.',
    },
    SLUICE_DYNAMODB_AUTH: {
      meaning: 'DynamoDB refuses the credentials.',
      cause: 'They are missing, wrong or expired.',
    },
    SLUICE_SQLITE_MISSING: {
      meaning: 'This Node has no SQLite, and `sqliteStore` got no `driver`. It throws this error.',
      cause: '`node:sqlite` is in Node from 22.13 on.',
    },
    SLUICE_SQLITE_FILE: {
      meaning: 'The file of the store can not be opened, read or written.',
      cause:
        'The folder does not exist, the user may not write there, the file system is read-only, or the disk fails.',
    },
    SLUICE_SQLITE_FULL: {
      meaning: 'The file of the store has no room for more.',
      cause: 'The disk is full, or the file has reached `maxBytes`.',
    },
    SLUICE_SQLITE_CORRUPT: {
      meaning: 'The file of the store is damaged, or it is not a file of SQLite.',
      cause:
        'A power failure or a crash of the system, a write into the file, or a deleted file beside it.',
    },
    SLUICE_SQLITE_VERSION: {
      meaning: 'The file is of another application, or of another version of the package.',
      cause: 'The path is that of a database of the application.',
    },
    SLUICE_SQLITE_NETWORK: {
      meaning: 'The file is where other machines may use it too.',
      cause:
        'The folder is on NFS or SMB, where SQLite locks do not hold, or without shared memory.',
    },
  },
  store: {
    SLUICE_STORE_UNAVAILABLE: {
      meaning:
        'The store did not confirm `settle`, `block` or `reset`. It applies only in this process.',
      cause:
        'The store is down, refuses the call, or did not answer within `deadline`: see `cause`.',
      action:
        'Repeat `block` or `reset` when the store is back. A repeated `settle` may count twice, if only its answer was late. See [failures](failures.md).',
    },
    SLUICE_STORE_CONTENTION: {
      meaning: 'A store that compares and swaps gave up, and wrote nothing.',
      cause: 'Other processes changed the same keys first, in each attempt.',
      action: 'If your backend can lock, use `transactionalStore`: see [stores](stores.md).',
    },
  },
  wait: {
    SLUICE_WAIT_TOO_LONG: {
      meaning: 'The wait would be longer than `maxWait`.',
      cause: 'The key is admitted later than that, or others were served first.',
      action:
        'Answer that the service is busy, with `retryAfterMs` as `Retry-After`. If it happens often, raise `maxWait` or the limit.',
    },
    SLUICE_WAIT_NEVER: {
      meaning: 'The call can never be admitted.',
      cause: 'The cost is larger than the limit, or the limit is 0.',
      action: 'Split the work, or raise the limit.',
    },
    SLUICE_WAIT_FULL: {
      meaning: 'Too many calls wait: `maxWaiting` in all, or half of what is free for this key.',
      cause: 'More calls come than the limit admits.',
      action:
        'Refuse the work, or do it later. A larger `maxWaiting` only makes everybody wait longer.',
    },
    SLUICE_WAIT_ABORTED: {
      meaning: 'Its `signal` was aborted. `cause` is the reason of the signal.',
      cause: 'The application aborted it, or the timeout of the signal has passed.',
      action: 'Nothing: nothing stays charged.',
    },
    SLUICE_WAIT_CLOSED: {
      meaning: 'The limiter was closed while it waited.',
      cause: '`close()` was called, for example at shutdown.',
      action: 'Nothing stays charged. Do the work in another process, or after a restart.',
    },
  },
  warning: {
    SLUICE_STORE_DOWN: {
      meaning: 'The store has failed. `onStoreError` decides.',
      cause:
        'The message quotes the last failure. If it ends with a code, look that up here: such a set-up does not recover by itself.',
      action:
        'Bring the store back; Sluice tries again by itself. See [failures](failures.md) and [operations](operations.md).',
    },
    SLUICE_STORE_UP: {
      meaning: 'The store decides again.',
      cause: 'A call that tested the store succeeded.',
      action: 'Nothing.',
    },
    SLUICE_CLOCK_SKEW: {
      meaning:
        'The clock of this process and that of Redis differ by so much that Redis cannot decide policies with a window of the calendar.',
      cause:
        "The clock of this machine, or of the server, is wrong by more than two windows: for `window: 'day'`, by more than two or three days. Until it is right, `onStoreError` decides requests with such a policy, by default in this process alone. All other policies are not affected.",
      action: 'Correct the clock, and keep it correct with NTP.',
    },
    SLUICE_ON_READ_ONLY: {
      meaning: 'The callback `onReadOnly` of `redisStore` threw or rejected.',
      cause:
        'Often `client.connect()` in it rejects because the new master does not answer yet. The limiter keeps working.',
      action:
        'Catch errors in the callback. Sluice calls it again, at most once a second, as long as the server is read-only.',
    },
    SLUICE_CLIENT_UNGUARDED: {
      meaning: "A node-redis client without an `'error'` listener was passed as the store.",
      cause:
        'Without it, node-redis crashes the process when it loses its connection, whatever `onStoreError` says. Sluice never alters your client.',
      action: "Call `client.on('error', console.error)` after `createClient`.",
    },
    SLUICE_REQUEST_FAILED: {
      meaning:
        'A function of the options threw, and the request got status 500 (servers without a framework) or an error (MCP).',
      cause: 'For example a `key` function that expects a field which a client left out.',
      action:
        'Fix the function; the message quotes the error. To handle errors yourself, give the last argument of the limiter.',
    },
    SLUICE_ON_DECISION: {
      meaning: 'The callback `onDecision` threw or rejected.',
      cause: 'An error in your function. The decision is not affected.',
      action: 'Fix the function.',
    },
    SLUICE_ON_THRESHOLD: {
      meaning: 'The callback `onThreshold` threw or rejected.',
      cause: 'An error in your function. The charge is not affected.',
      action: 'Fix the function.',
    },
    SLUICE_POLICY_DOCUMENT: {
      meaning:
        'Settings of live policies in the store are wrong or lost, and are ignored. The last good ones hold, or the options.',
      cause:
        'Somebody wrote to the store without the command and the API; this version of the application has narrower bounds (`live`) or another algorithm; or the store was emptied.',
      action:
        'Correct the settings (`sluice policy list`), or give all versions of the application the same bounds and algorithms.',
    },
    SLUICE_SETTLE: {
      meaning: 'The charge of a request was not corrected. The estimate is kept.',
      cause: '`settle` threw, or returned something else than an integer ≥ 0.',
      action: 'Fix the function. Return `undefined` to keep the estimate.',
    },
    SLUICE_MADE_PER_REQUEST: {
      meaning: 'A limiter is created for each request, so it never limits.',
      cause: '`rateLimit()` or `createLimiter()` is called in a request handler.',
      action: 'Create the limiter once, outside the handler.',
    },
    SLUICE_WINDOW_SHORT: {
      meaning:
        'A window or the duration of a ban is a number below 1000, so it lasts less than a second.',
      cause: 'Numbers are milliseconds: `window: 60` is 60 ms. Seconds were probably meant.',
      action: "Write the unit: `window: '60s'`, or `window: '60ms'` if you mean that.",
    },
    SLUICE_FRAMEWORK_UNTESTED: {
      meaning: 'The framework is newer than the versions that Sluice was tested with.',
      cause: 'npm admits prereleases of the next major version, and Fastify says its version.',
      action:
        'Update Sluice before production. Until then run your own tests, and report what fails.',
    },
    SLUICE_CONTEXT_UNLIMITED: {
      meaning:
        'In NestJS, `RateLimitGuard` lets through a handler that is not called by HTTP (GraphQL, a gateway, a microservice).',
      cause:
        'An `APP_GUARD` applies to these too. Only you know which request such a call belongs to.',
      action:
        'Extend the guard and override `getRequest`: see [NestJS beyond HTTP](nest.md). Return `undefined` for what is not limited.',
    },
    SLUICE_SHARED_QUOTA: {
      meaning: 'Two limiters on one store share one quota.',
      cause:
        'Their `prefix`, and the name, algorithm and window of a policy are the same, as with `limit: 3` on `/contact` and on `/reset`. Without a `store` each counts alone.',
      action:
        "Give each a `prefix`: `prefix: 'contact'`. If they are meant to share, give both the same `prefix`. If a handler makes the limiter, make it once, with a function as `limit`.",
    },
    SLUICE_KEY_MISSING: {
      meaning:
        'The key function returned no key, or `user` or `shard` no id. Such requests are limited by their address.',
      cause:
        'Nothing, empty text or an object was returned, such as the whole user or an ObjectId; or the user has neither `id` nor `sub`.',
      action: 'Return text for every request: `user: (request) => String(request.user._id)`.',
    },
    SLUICE_KEY_IPV6: {
      meaning: 'The key function returned a single IPv6 address.',
      cause: 'Each client has at least 2^64 IPv6 addresses, and gets a new limit with each.',
      action:
        "Use `key: 'ip'`, which limits the network (`ipv6Prefix`), or return `addressKey(address)`.",
    },
    SLUICE_KEY_KIND: {
      meaning: '`block` or `reset` was called with a key that no policy of the limiter uses.',
      cause:
        "For example `'user:42'` where no policy has `key: 'user'`, a network without `{ network: true }`, or a key without its `shard`.",
      action:
        'Use an address, `user:` and the id, or `key:` and what your key function returns. To block a network with `createLimiter`, add `{ network: true }`.',
    },
    SLUICE_ADDRESS_UNKNOWN: {
      meaning: 'A request has no readable address. All such requests share one quota.',
      cause:
        'The server listens on a Unix socket, or a proxy writes something else than an address.',
      action: 'Name your proxies in `trustProxy`; behind a Unix socket give `trustProxy: 1`.',
    },
    SLUICE_BODY_MISSING: {
      meaning: '`estimateTokens` found no body, so the request costs 0.',
      cause: 'The request has none, or the limiter runs before the body is parsed.',
      action: "Put the body parser before the limiter; in Fastify choose `hook: 'preValidation'`.",
    },
    SLUICE_PRICE: {
      meaning:
        'A call has no price, or its usage has no numbers. It is refused, or costs its estimate if it was reserved before.',
      cause:
        '`price` threw or returned something else than a number ≥ 0; the usage has no valid number; or it has what costs more than tokens (`service_tier`), which `price` does not read.',
      action:
        'Add the price of the model, or read what the message names. A free model has the price 0.',
    },
    SLUICE_METER: {
      meaning: '`send` of a meter failed. The records wait in this process, and are sent again.',
      cause: 'The receiver is down, does not answer within `timeout`, or refuses a record.',
      action:
        'A batch that is never taken holds up those behind it: let `send` put aside what the receiver will never take.',
    },
    SLUICE_METER_FULL: {
      meaning: 'A million records of a meter wait; further ones are dropped.',
      cause: '`send` has failed for too long.',
      action: 'Find what is missing by `counts()`, while the window lasts.',
    },
    SLUICE_TOOL_UNKNOWN: {
      meaning: '`tools` of an MCP limiter names a tool that the first list of tools does not have.',
      cause: 'The name is misspelt. Or the tool is disabled, or for other users: its limit works.',
      action: 'Correct a misspelt name.',
    },
    SLUICE_PROXY_UNTRUSTED: {
      meaning:
        'Requests come through a proxy that is not trusted, so all clients behind it share one limit.',
      cause: 'They have `X-Forwarded-For`.',
      action: "Name your proxies: `trustProxy: ['loopback', '10.0.0.0/8']`.",
    },
    SLUICE_PROXY_EVERYBODY: {
      meaning: 'Each client can choose its own address, and get a new limit for each request.',
      cause: 'The framework trusts every proxy, and so the first address in `X-Forwarded-For`.',
      action: "Name your proxies instead: `trustProxy: ['loopback', '10.0.0.0/8']`.",
    },
    SLUICE_PROXY_HOPS: {
      meaning: 'A client that reaches the server directly can choose its own address.',
      cause:
        'The framework counts hops in `X-Forwarded-For`. That is right only for requests that pass all proxies.',
      action: "Name your proxies instead: `trustProxy: ['loopback', '10.0.0.0/8']`.",
    },
    SLUICE_PROXY_IGNORED: {
      meaning: 'All clients behind a proxy share one limit.',
      cause: 'Fastify ignores a number as `trustProxy` since 5.12.1.',
      action: "Name your proxies: `trustProxy: ['loopback', '10.0.0.0/8']`.",
    },
    SLUICE_SKIP_NOTHING: {
      meaning: 'The function `skip` has no `return`, so no request is exempt.',
      cause:
        "A block in braces returns nothing by itself: `skip: (request) => { request.path === '/health' }`.",
      action: 'Remove the braces, or write `return`.',
    },
    SLUICE_LIST_ADDRESS: {
      meaning:
        'The key function returns an address, but `allow` and `deny` compare that of the connection.',
      cause: 'The function reads the address from a header, such as `CF-Connecting-IP`.',
      action: 'Set `trustProxy` instead of the function.',
    },
    SLUICE_NO_GUARD: {
      meaning:
        'In NestJS, `RateLimitModule` is imported, but nothing uses `RateLimitGuard` or `RateLimits`: no request is limited.',
      cause: 'The provider of the guard is missing, or a module without it is the root module.',
      action:
        'Add `{ provide: APP_GUARD, useClass: RateLimitGuard }` to the providers, or `@UseGuards(RateLimitGuard)` to a controller. To call it by hand, inject `RateLimits`.',
    },
    SLUICE_SCOPE_EMPTY: {
      meaning:
        'In Fastify, `rateLimit` is registered in a plugin without routes, so it limits none.',
      cause: 'Hooks of a plugin are for its own routes and those of plugins within.',
      action: 'Register it on the application, or wrap the plugin in `fastify-plugin`.',
    },
    SLUICE_AFTER_ROUTES: {
      meaning:
        'In Express and Koa, the limiter comes after the routes. It limits only what no route has answered.',
      cause:
        'Middleware runs in the order in which it was added. With Hono there is no warning: look for `RateLimit` fields in a response.',
      action: 'Move `app.use(rateLimit(…))` before the routes.',
    },
    SLUICE_OTHER_LIMIT: {
      meaning:
        'The limiter of `sluiceStore` has another limit than the middleware express-rate-limit that it counts for.',
      cause: 'Both have a limit. The one of the limiter decides.',
      action: 'Write the same limit and window for both.',
    },
    SLUICE_AWAIT_MISSING: {
      meaning:
        'A promise was taken for a decision: `limiter.consume(key).allowed` is undefined, so everybody seems to be refused.',
      cause:
        'With a remote store every method returns a promise. `if (limiter.consume(key))`, which is always true, goes unnoticed.',
      action: 'Write `(await limiter.consume(key)).allowed`, which works with every store.',
    },
    SLUICE_UNANSWERED: {
      meaning:
        '`respond` neither sent a response nor returned one, so the refusal got the default body.',
      cause:
        'It sets only a status, does not return its object, or sends later than a second after it returned.',
      action:
        'Return the body, or send the response. If you send it later, return a promise that resolves then.',
    },
    SLUICE_ROUTE_UNMATCHED: {
      meaning: 'An entry of `routes` has matched no request so far, although one looked like it.',
      cause:
        'A proxy removes or adds a prefix, or the path has a typing error. Or the request is of another route that ends alike.',
      action:
        'Write the path as the application gets it, whole or relative to where the limiter is mounted. If it was another route, ignore the warning.',
    },
    SLUICE_CLASS_UNKNOWN: {
      meaning: '`classOf` of `shedLoad` returned none of the `classes`.',
      cause:
        'The name is misspelt, or the function returned nothing or a promise. Such requests are in the least important class.',
      action: 'Return the name of a class for every request. See [overload](overload.md).',
    },
  },
  refusal: {
    SLUICE_REFUSED: {
      meaning: 'A request was refused. This is not a failure.',
      cause: "With `respond: 'throw'` the application's error handler gets a `RateLimitError`.",
      action:
        'Answer from its `status`, `headers` and `decision`. The message may be shown to the client. To throw a class of your own, do it in a function `respond`.',
    },
    SLUICE_BUDGET: {
      meaning: 'A call does not fit into a budget. This is not a failure.',
      cause:
        '`budget.aiSdk` rejects with a `BudgetError`; its `decision` has the level and what would fit.',
      action:
        'Ask for less output, choose a cheaper model, or tell the client when the budget is full again (`decision.resetMs`).',
    },
  },
}
