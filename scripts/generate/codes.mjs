// The texts of docs/errors.md about each code, as Markdown, by section: what its message says in general, the
// usual causes, and what to do. Each store has what to do about its set-up, for its messages.

import { core, source } from './core.mjs'

const { REDIS_ACTIONS } = await core('stores/redis/setup-actions.ts')
const { POSTGRES_ACTIONS } = await source('postgres/src/setup-actions.ts')
const { SQLITE_ACTIONS } = await source('sqlite/src/setup-actions.ts')
export const SETUP_ACTIONS = { ...REDIS_ACTIONS, ...POSTGRES_ACTIONS, ...SQLITE_ACTIONS }

export const CODES = {
  misuse: {
    SLUICE_OPTION_TYPE: {
      meaning: 'An option or an argument has the wrong type.',
      cause:
        'Most often a number from the environment that is still text, a required option that is missing, or `app.use(rateLimit)`, which passes on `rateLimit` itself and not what it returns. Sluice converts nothing, because a wrong guess would set a limit that you did not intend.',
      action:
        'Give the type that the message names. Convert text where it comes from: `Number(process.env.LIMIT)`.',
    },
    SLUICE_OPTION_RANGE: {
      meaning:
        'An option or an argument has the right type, but its value is outside of the range.',
      cause:
        'A negative number, a fraction, `NaN`, `Infinity`, or a number above what Sluice can count exactly.',
      action: 'Give a value within the range that the message names.',
    },
    SLUICE_OPTION_VALUE: {
      meaning: 'An option or an argument is not one of the values that it can have.',
      cause: 'A typing error, or a name from another library.',
      action: 'Choose one of the values that the message lists.',
    },
    SLUICE_OPTION_UNKNOWN: {
      meaning: 'There is no option of this name, or not in this place.',
      cause:
        'A typing error, an option of another library, or an option of the whole limiter that a single policy or route cannot have.',
      action:
        'Remove it or correct its name. For options of other libraries the message names the right one; see also [migrating](migrating.md).',
    },
    SLUICE_OPTION_CONFLICT: {
      meaning: 'Options that are each right contradict each other.',
      cause:
        'Examples: `policies` together with `limit`, two policies of the same name, a cost that is above the limit and so could never be paid, two limiters with different limits that would share one count (on the same store, with the same `prefix`, policy name, algorithm and window).',
      action: 'Change one of the options as the message says.',
    },
    SLUICE_STORE_UNKNOWN: {
      meaning:
        '`store` is neither a store nor a client of Redis that Sluice knows, or a store whose ledgers lack `decide` or `change`, or the pool of `postgresStore` is not one of pg, or the path of `sqliteStore` is not a path.',
      cause:
        'A URL instead of a client, a promise of one, a client of another library or of an older version (node-redis 4), a mock (ioredis-mock), a pool of pg, a store of another limiter, or a pipeline or transaction of a client.',
      action:
        'Give `memoryStore()`, `redisStore(client)`, `postgresStore(pool)` of `@sluice/postgres`, `sqliteStore(path)` of `@sluice/sqlite`, or a client of Redis itself: `new Redis(url)` of ioredis, `createClient({ url })` of node-redis, a `GlideClient`. For anything else, write [a store of your own](stores.md).',
    },
    SLUICE_KEY: {
      meaning: 'A method of the limiter was called with a key that names no single client.',
      cause:
        'The key is missing, empty, not text, or a network of addresses where a key function returns text that clients may choose.',
      action:
        'Pass the text that identifies one client. To block a network, add `{ network: true }` to `block` and `reset`.',
    },
    SLUICE_HEADERS: {
      meaning:
        '`headers` names a profile that does not exist, or two that cannot be sent together.',
      cause:
        "Drafts 7 and 8 to 11 give the field `RateLimit` different forms, so a response can't have both.",
      action:
        "Choose one profile, for example `'draft-11'`, or `['draft-11', 'draft-6']` for new and old clients together; `false` sends no fields.",
    },
    SLUICE_TRUST_PROXY: {
      meaning: '`trustProxy` does not say which proxies to trust.',
      cause:
        '`true` is refused on purpose: if every address is trusted, each client can write its own address into `X-Forwarded-For` and get a new limit for each request.',
      action:
        "Name your proxies: `trustProxy: ['loopback', '10.0.0.0/8']`. Or give the number of proxies, if the server can't be reached without passing them.",
    },
    SLUICE_CIDR: {
      meaning:
        'An entry of `allow` or `deny` looks like a range of addresses, but is not one; or `block` or `reset` was called with text that is not a network, or with a network that is too large.',
      cause:
        'The address is not valid, or the prefix is too long for its family. A network that `block` refuses has at least 8 bits for IPv4 and 16 for IPv6, because a shorter prefix is more likely a mistake.',
      action:
        'Correct the address and the prefix: 1 to 32 bits for IPv4, 1 to 128 for IPv6. To refuse more than a /8, use `deny`.',
    },
    SLUICE_NETWORKS_FULL: {
      meaning: 'A network could not be blocked, because 10,000 are blocked under this prefix.',
      cause: 'Each attacking address is blocked as a network of its own, for a long time.',
      action:
        'Block the network that they have in common, for a shorter time, or end blocks: `sluice top` and `sluice serve` list them. Block single clients with `block(key)`, which has no such limit.',
    },
    SLUICE_POLICY_UNKNOWN: {
      meaning:
        'Settings name a policy that no application has under this prefix with the option `live`.',
      cause:
        'A typing error, another `prefix`, a policy without `live`, or an application that has had no request yet: it writes the names of its policies with the first one.',
      action: 'Choose one of the names that the message lists.',
    },
    SLUICE_POLICY_CHANGED: {
      meaning:
        'Somebody else has changed the settings of live policies since you looked. Nothing was changed.',
      cause: 'Two people, or a person and a program, change settings at the same time.',
      action: 'Look again (`sluice policy history`), and repeat the change if it is still right.',
    },
    SLUICE_POLICIES_FULL: {
      meaning:
        'There are too many settings: of 1,000 policies, or 10 of one policy that end by themselves.',
      cause: 'A program sets what it never ends.',
      action: 'End settings that are no longer needed.',
    },
    SLUICE_SECRET: {
      meaning: '`partitionSecret` or `keySecret` is too short to keep a secret.',
      cause: 'It is shorter than 16 characters, or not text. The message shows its length only.',
      action: 'Take it from a secret store or the environment; the same one in every process.',
    },
    SLUICE_ROUTE: {
      meaning: 'A key of `routes` is not a route.',
      cause:
        'It does not start with a path or with a method in capitals, or the path is not one that the framework could match.',
      action:
        "Write it as the framework's router would: `'POST /login'`, `'/search/:id'`, `'/files/*path'`.",
    },
    SLUICE_REQUEST: {
      meaning:
        'A middleware was called with a request, a response or a context that is not one of its framework, or a limited function of a `Request` returned something else than a `Response`.',
      cause:
        "In a test, an object that lacks what the middleware needs: for example a response without `setHeader`, or a context of Koa without `req` and `res`. In an application, the package of another framework, or a handler without `return`. The message doesn't show the request.",
      action:
        "Use the package of your framework, and return a response. In a test, send a real request with supertest, Fastify's `app.inject` or Hono's `app.request`; or make the request and the response with node-mocks-http. For `@sluice/express` and `@sluice/node`, any object is a request: `{}` is a client without an address, and shares its quota with all others.",
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
      cause:
        'Most often it was the master until a failover, and the client is still connected to it.',
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
        'Most often it is a replica, to which the pool is still connected after a failover. Or `default_transaction_read_only` is set.',
    },
    SLUICE_SQLITE_MISSING: {
      meaning: 'This Node has no SQLite, and `sqliteStore` got no `driver`. It throws this error.',
      cause: '`node:sqlite` is in Node from 22.13 on.',
    },
    SLUICE_SQLITE_FILE: {
      meaning: 'The file of the store can not be opened, read or written.',
      cause:
        'The folder does not exist, the user of the process may not write there, the file system is mounted read-only, or the disk fails.',
    },
    SLUICE_SQLITE_FULL: {
      meaning: 'The file of the store has no room for more.',
      cause: 'The disk is full, or the file has reached `maxBytes`.',
    },
    SLUICE_SQLITE_CORRUPT: {
      meaning: 'The file of the store is damaged, or it is not a file of SQLite.',
      cause:
        'The machine lost power or its system crashed, something wrote into the file, or one of the files beside it was deleted or replaced.',
    },
    SLUICE_SQLITE_VERSION: {
      meaning: 'The file is of another application, or of another version of the package.',
      cause: 'The path is that of a database which the application has for something else.',
    },
    SLUICE_SQLITE_NETWORK: {
      meaning: 'The file is where other machines may use it too.',
      cause:
        'The folder is on NFS or SMB, where the locks of SQLite do not hold, or its file system has no shared memory.',
    },
  },
  store: {
    SLUICE_STORE_UNAVAILABLE: {
      meaning:
        '`settle`, `block` or `reset` was not confirmed by the store. It applies only in this process.',
      cause:
        'The store is down, refuses the call, or did not answer within `deadline`. `cause` has the reason.',
      action:
        'Repeat the call when the store is back. It is safe to repeat `block` or `reset`. If `settle` got no answer in time, the store may still have counted it, so a repetition may count twice. `consume` and `peek` never reject with this: there `onStoreError` decides. See [failures](failures.md).',
    },
    SLUICE_STORE_CONTENTION: {
      meaning: 'A store that compares and swaps gave up, and wrote nothing.',
      cause: 'In each of its attempts another process changed the same keys first.',
      action:
        'If your backend can lock, use `transactionalStore` instead: see [stores](stores.md).',
    },
  },
  wait: {
    SLUICE_WAIT_TOO_LONG: {
      meaning: 'The wait would have taken longer than `maxWait`.',
      cause:
        'The store has said when the key is admitted again, which is later; or the time has passed while others were served first.',
      action:
        'Answer that the service is busy, and send `retryAfterMs` as `Retry-After`. If it happens often, raise `maxWait` or the limit.',
    },
    SLUICE_WAIT_NEVER: {
      meaning: 'The call would not be admitted, however long it waits.',
      cause: 'The cost is larger than the limit, or the limit is 0.',
      action: 'Split the work into parts that cost less, or raise the limit.',
    },
    SLUICE_WAIT_FULL: {
      meaning: 'Too many wait already: `maxWaiting` in all, or half of what is free for this key.',
      cause: 'For a long time, more calls have come than the limit admits.',
      action:
        'Refuse the work, or do it later. A larger `maxWaiting` only makes everybody wait longer.',
    },
    SLUICE_WAIT_ABORTED: {
      meaning: 'Its `signal` was aborted. `cause` is the reason of the signal.',
      cause: 'The application has aborted it, or a timeout of the signal has passed.',
      action: 'Nothing: nothing stays charged.',
    },
    SLUICE_WAIT_CLOSED: {
      meaning: 'The limiter was closed while it waited.',
      cause: '`close()` was called, for example because the process shuts down.',
      action: 'Nothing: nothing stays charged. Do the work in another process, or after a restart.',
    },
  },
  warning: {
    SLUICE_STORE_DOWN: {
      meaning: 'The store has failed, so requests are decided without it, as `onStoreError` says.',
      cause:
        'The message quotes the last failure. If that ends with a code of its own, look it up on this page: a set-up that cannot work does not recover by itself.',
      action:
        'Bring the store back; Sluice tries it again by itself. See [failures](failures.md) and [operations](operations.md).',
    },
    SLUICE_STORE_UP: {
      meaning: 'The store has recovered, and decides again.',
      cause: 'A call that tested the store succeeded.',
      action: 'Nothing.',
    },
    SLUICE_CLOCK_SKEW: {
      meaning:
        'The clock of this process and that of Redis differ by so much that Redis cannot decide policies with a window of the calendar.',
      cause:
        "The clock of this machine, or of the server, is wrong by more than two windows: for `window: 'day'`, by more than two or three days. Until it is right, `onStoreError` decides requests with such a policy, by default in this process alone. All other policies are not affected. Sluice warns once.",
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
        "node-redis emits `'error'` when it loses its connection, and Node ends a process in which nobody listens to that event. So the application would end when Redis does, whatever `onStoreError` says. Sluice adds no listener, because it never alters your client. Sluice warns once.",
      action:
        "Call `client.on('error', console.error)`, or your logger, after `createClient` and before you pass the client on.",
    },
    SLUICE_REQUEST_FAILED: {
      meaning:
        'A function of the options threw in a server without a framework, and the request got the status 500.',
      cause: 'For example a `key` function that expects a field which a client left out.',
      action:
        'Fix the function; the message quotes what it threw. To handle errors yourself, give `failed`, the last argument of the limiter of `@sluice/node`. Sluice warns once.',
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
        'Settings of live policies in the store are ignored: all of them if one is wrong, or those of one policy, if in this process its limit is outside of the bounds, or its algorithm does not have a setting. The last good ones hold, or the options if there are none. Or the store has lost them: those that this process knows hold.',
      cause:
        'Somebody wrote to the store without the command and the API, which check settings; or this version of the application has narrower bounds (`live`), or another algorithm; or the store was emptied.',
      action:
        'Correct the settings, or give all versions of the application the same bounds and algorithms. `sluice policy list` shows them.',
    },
    SLUICE_SETTLE: {
      meaning:
        'The charge of a request was not corrected to its actual cost. The estimate is kept.',
      cause: 'Your function `settle` threw, or returned something that is not an integer ≥ 0.',
      action: 'Fix the function. Return `undefined` to keep the estimate.',
    },
    SLUICE_MADE_PER_REQUEST: {
      meaning:
        'Limiters are created repeatedly, and each is used once. Such a limiter never limits.',
      cause:
        '`rateLimit()` or `createLimiter()` is called in a request handler, at once or after an `await`, so each request has a new limiter with its own memory.',
      action: 'Create the limiter once, outside the handler, and use it for every request.',
    },
    SLUICE_WINDOW_SHORT: {
      meaning:
        'A window, or a duration of a ban, is a number below 1000, so it lasts less than a second.',
      cause:
        'Numbers are milliseconds. Seconds were probably meant: `window: 60` is 60 ms, in which few clients send more than one request, so the limit does next to nothing. The limiter uses the window as it is written. Sluice warns once for each option and value.',
      action:
        "Write the unit: `window: '60s'`, or `window: '60ms'` if you mean that. Text never causes this warning.",
    },
    SLUICE_FRAMEWORK_UNTESTED: {
      meaning:
        'The framework is newer than the versions that this version of Sluice was tested with.',
      cause:
        'The peer range admits the prereleases of the next major version, so that you can try them, and Fastify says its version. Express, Koa and Hono do not, so there is no warning with them.',
      action: 'Update Sluice before production. Until then, run your own tests. Report what fails.',
    },
    SLUICE_CONTEXT_UNLIMITED: {
      meaning:
        'In NestJS, `RateLimitGuard` protects a handler that is not called by HTTP: of GraphQL, of a gateway or of a microservice. It lets it through.',
      cause:
        'An `APP_GUARD` applies to resolvers too, and to the handlers of a hybrid application with `inheritAppConfig`. Only you know which request such a call belongs to.',
      action:
        'Extend the guard and override `getRequest`, as the [guide](../packages/nest/README.md#graphql) shows; return `undefined` for what is not limited. Sluice warns once.',
    },
    SLUICE_SHARED_QUOTA: {
      meaning: 'Two limiters on one store have the same options, so they share one quota.',
      cause:
        'Limiters share a quota if their store, `prefix`, and the name, algorithm and window of a policy are the same, for example `limit: 3` on `/contact` and on `/reset`. Without a `store` each counts in its own memory, so the same code admits twice as much in development. Sluice warns once.',
      action:
        "If a handler makes the limiter, make it once, outside, with a function for a limit that differs by client: `limit: (request) => …`. Limiters that count different things each need a `prefix`: `prefix: 'contact'`. If they are meant to share, give both the same `prefix`, which may be the default, `'sluice'`.",
    },
    SLUICE_KEY_MISSING: {
      meaning:
        'The key function returned no key, or `user` or `shard` something that is not an id. Requests without a key or a user are limited by their address.',
      cause:
        'The key function returned nothing, empty text, or something that is not text, for example for a request without a session. Or `user` returned the whole user or an id that is an object, such as an ObjectId of MongoDB, or the user of the framework has neither `id` nor `sub`.',
      action:
        'Return text for every request. Say where the id is, and convert it: `user: (request) => String(request.user._id)`.',
    },
    SLUICE_KEY_IPV6: {
      meaning: 'The key function returned a single IPv6 address.',
      cause:
        'Each client has at least 2^64 IPv6 addresses, so it can get a new limit for each request.',
      action:
        "Use `key: 'ip'`, which limits the network (`ipv6Prefix`), or return `addressKey(address)`.",
    },
    SLUICE_KEY_KIND: {
      meaning: '`block` or `reset` was called with a key that no policy of the limiter uses.',
      cause:
        "For example with `'user:42'`, where no policy has `key: 'user'`; or a limiter of `createLimiter` was called with a key that looks like a network, which blocks the client of this name; or with a key without its shard, where the limiter has `shard`.",
      action:
        'Give the kind of key that the policies use: an address, `user:` and the id, or `key:` and what your key function returns. To block a network with `createLimiter`, add `{ network: true }`.',
    },
    SLUICE_ADDRESS_UNKNOWN: {
      meaning: 'A request has no address that can be read. All such requests share one quota.',
      cause:
        'The server listens on a Unix socket, or a proxy writes something else than an address.',
      action: 'Name your proxies in `trustProxy`; behind a Unix socket give `trustProxy: 1`.',
    },
    SLUICE_BODY_MISSING: {
      meaning: 'A request without a body costs 0 by `estimateTokens`.',
      cause:
        'The request has none, or the limiter runs before the body is parsed. Then every request costs 0.',
      action:
        "Register the body parser before the limiter; in Fastify choose `hook: 'preValidation'`. Requests without a body need nothing.",
    },
    SLUICE_PRICE: {
      meaning:
        'A call has no price, or usage has no numbers. Such a call is refused. If it was reserved before, it costs its estimate.',
      cause:
        'The option `price` of `createBudget` threw, or returned something else than a number from 0 on; or the usage has no number, or one that is NaN or below zero. Or it has what costs more than tokens, such as `service_tier`, which `price` does not read.',
      action:
        'Add the price of the model, or read what the message names. A model that costs nothing has the price 0.',
    },
    SLUICE_METER: {
      meaning:
        'The function `send` of a meter failed. What was charged waits in this process, and is sent again.',
      cause: 'The receiver is down, does not answer within `timeout`, or refuses a record.',
      action:
        'Look at what it says. A batch that is never taken holds up those behind it: let `send` put aside what the receiver will never take.',
    },
    SLUICE_METER_FULL: {
      meaning: 'A million records of a meter wait, so further ones are dropped.',
      cause: '`send` has failed for too long.',
      action: 'Find what is missing by `counts()`, while the window lasts.',
    },
    SLUICE_PROXY_UNTRUSTED: {
      meaning:
        'Requests come through a proxy that is not trusted, so all clients behind it share one limit.',
      cause: 'They have `X-Forwarded-For`, but no proxy is trusted.',
      action: "Name your proxies: `trustProxy: ['loopback', '10.0.0.0/8']`.",
    },
    SLUICE_PROXY_EVERYBODY: {
      meaning: 'Each client can choose its own address, and so get a new limit for each request.',
      cause:
        'The framework trusts every proxy, and so the first address in `X-Forwarded-For`, which the client writes.',
      action: "Name your proxies instead: `trustProxy: ['loopback', '10.0.0.0/8']`.",
    },
    SLUICE_PROXY_HOPS: {
      meaning: 'A client that reaches the server directly can choose its own address.',
      cause:
        'The framework counts hops in `X-Forwarded-For`, which is right only for requests that pass all proxies.',
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
        'The key function returns an address, but `allow` and `deny` compare another: that of the connection.',
      cause:
        'The function reads the address from a header, such as `CF-Connecting-IP`. The lists do not know of it.',
      action:
        'Set `trustProxy` instead of the function, so that keys and lists have the same address.',
    },
    SLUICE_NO_GUARD: {
      meaning:
        'In NestJS, `RateLimitModule` is imported, but nothing uses `RateLimitGuard` or `RateLimits`. No request is limited.',
      cause: 'The provider of the guard is missing, or a module without it is the root module.',
      action:
        'Add `{ provide: APP_GUARD, useClass: RateLimitGuard }` to the providers, or `@UseGuards(RateLimitGuard)` to a controller. Who calls by hand injects `RateLimits`, or takes it with `app.get(RateLimits)` before the start.',
    },
    SLUICE_SCOPE_EMPTY: {
      meaning: 'In Fastify, `rateLimit` is registered in a plugin without routes. It limits none.',
      cause: "A plugin's hooks are for its own routes, and those of the plugins within.",
      action:
        'Register it on the application, or wrap the plugin that registers it in `fastify-plugin`.',
    },
    SLUICE_AFTER_ROUTES: {
      meaning:
        'In Express and Koa, the limiter is the last middleware, behind the routes. It limits only what no route has answered.',
      cause:
        'Middleware runs in the order in which it was added. Hono too never calls a limiter behind the route that answers, and nothing can tell: look for `RateLimit` fields in a response.',
      action: 'Move `app.use(rateLimit(…))` before the routes.',
    },
    SLUICE_AWAIT_MISSING: {
      meaning:
        'A promise was taken for a decision: `limiter.consume(key).allowed` is undefined, so everybody seems to be refused.',
      cause:
        'With a remote store every method returns a promise; in memory it returns the decision. TypeScript reports this. Nothing can see `if (limiter.consume(key))`, which is always true.',
      action: 'Write `(await limiter.consume(key)).allowed`, which is right for every store.',
    },
    SLUICE_UNANSWERED: {
      meaning:
        'The function `respond` neither sent a response nor returned one, so a refusal got the default body.',
      cause:
        'It sets only a status, does not return its object, or sends the response more than a second after it has returned.',
      action:
        'Return the body (text, an object for JSON, or a `Response`), or send the response. If you send it later, return a promise that resolves when it is sent.',
    },
    SLUICE_ROUTE_UNMATCHED: {
      meaning:
        'An entry of `routes` has matched no request so far, although a request looked like one of it.',
      cause:
        'The entry has another path than clients request: a proxy removes or adds a prefix, or the path has a typing error. Or the request is of another route that ends alike.',
      action:
        'Write the path as the application gets it, whole or relative to where the limiter is mounted. Given once for each entry; if it was another route, ignore it.',
    },
    SLUICE_CLASS_UNKNOWN: {
      meaning: '`classOf` of `shedLoad` returned something that is none of the `classes`.',
      cause:
        'The name is misspelt, or the function returned nothing or a promise. Such requests are in the last, least important class.',
      action: 'Return the name of a class for every request. See [overload](overload.md).',
    },
  },
  refusal: {
    SLUICE_REFUSED: {
      meaning: 'A request was refused. It is not a failure: this is what a limiter is for.',
      cause:
        "With `respond: 'throw'` a refusal goes to the application's error handler as a `RateLimitError`.",
      action:
        'Render it as you like, from `status`, `headers` and `decision`. The message may be shown to the client. Where an error handler needs its own class, or a number in `code`, throw that from a function `respond`.',
    },
    SLUICE_BUDGET: {
      meaning:
        'A call does not fit into a budget. It is not a failure: this is what a budget is for.',
      cause:
        '`budget.aiSdk` rejects with a `BudgetError`, whose `decision` has the level, and what would fit.',
      action:
        'Ask for less output, or choose a cheaper model; or tell the client until when its budget is spent, `decision.resetMs`.',
    },
  },
}
