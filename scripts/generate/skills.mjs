// The skill of each published package: one page in the form of https://agentskills.io, for agents that write
// code with the package. The program is that of its README.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { published, SITE } from '../addresses.mjs'
import { root } from '../workspace.mjs'

/** The rules for every adapter. */
const ADAPTER_FACTS = [
  "Set `limit` and `window`, or `policies: [{ name, limit, window }]`. Write windows as text with a unit, `'15m'`: a number is milliseconds.",
  'Create the limiter once, when the application starts, never in a handler.',
  'Without a `store`, each process counts in its own memory. To share counts, pass the Redis client itself as `store`, not a URL or a promise; or `postgresStore(pool)`, or `sqliteStore(path)`.',
  "Give each limiter on a shared store its own `prefix`, such as `prefix: 'login'`.",
  "Behind a proxy, name it: `trustProxy: ['loopback', '10.0.0.0/8']`. Otherwise all clients share one quota.",
  "With `key: 'user'`, run the limiter after authentication. Never take a key or a limit from unverified input of the client.",
  'A refusal is a 429 with `Retry-After` and problem+json. `respond` sends another body; `dryRun: true` refuses nothing.',
]

function adapter(framework, facts = []) {
  return {
    when: `adding, changing or debugging rate limits, quotas, 429 responses or RateLimit header fields in ${framework}`,
    facts: [...facts, ...ADAPTER_FACTS],
  }
}

/** By package: what it is for, and what to know. */
const SKILLS = {
  express: adapter('an Express application'),
  fastify: adapter('a Fastify application', [
    'Register the plugin with `await`, before the routes. `config: { rateLimit: { … } }` overrides options for a route, `config: { rateLimit: false }` exempts it.',
  ]),
  koa: adapter('a Koa application'),
  hono: adapter('a Hono application or a route handler of Next.js, Bun or Deno', [
    'A `Request` has no client address: set `address`, a `key` function, or `trustProxy: 1`. Without any, `rateLimit` throws.',
  ]),
  elysia: adapter('an Elysia application', [
    "The plugin decides in `onRequest`, for all requests. `as: 'scoped'` decides in `onBeforeHandle`, when `derive` and `resolve` have run.",
  ]),
  nest: adapter('a NestJS application', [
    'The module configures the limiter, the guard applies it, and `@RateLimit({ limit, window })` or `@SkipRateLimit()` changes it for a controller or a handler.',
  ]),
  node: adapter(
    "a server of node:http, node:https or node:http2 without a framework, or a WebSocket's handshake",
  ),
  core: {
    when: 'limiting something other than HTTP requests (jobs, messages, API calls); for a server, use the package of its framework',
    facts: [
      'A refusal is a decision with `allowed: false`, never a rejection. `retryAfterMs` is how long to wait.',
      'With a memory store, methods are synchronous; with every other store, they return promises.',
      "Write windows as text with a unit, `'15m'`: a number is milliseconds.",
      'Two limiters on one store with the same options share quotas: give each a `prefix`.',
    ],
  },
  http: {
    when: 'writing a Sluice adapter for a framework that has no package',
    facts: [
      'Applications use the package of their framework, such as `@sluice/express`; this one is for authors of adapters.',
      '`@sluice/http/adapter` has what an adapter needs: `RoutedLimiter`, and `nodeExchange` or `fetchExchange` with `FetchReply`.',
      'Test it with `adapterSuite` of `@sluice/test-suites`.',
    ],
  },
  transactional: {
    when: 'writing a Sluice store for a database that has no package',
    facts: [
      'Applications use a package such as `@sluice/postgres`; this one is for authors of stores.',
      '`transactionalStore` is for a backend that can lock keys, `compareAndSwapStore` for one with compare-and-swap.',
      'Test it with `storeSuite` of `@sluice/test-suites`.',
    ],
  },
  postgres: {
    when: 'counting the rate limits of several processes in PostgreSQL instead of Redis',
    facts: [
      'Pass it a pg `Pool`, not a `Client`. Pass the store as `store` to an adapter or to `createLimiter`.',
      'Call `await store.migrate()` when you deploy, as a user who may create tables.',
      'The table is UNLOGGED by default: a server crash makes every quota full again. `logged: true` keeps the counts.',
    ],
  },
  mysql: {
    when: 'rate limits of several processes are to be counted in MySQL or MariaDB, not in Redis',
    facts: [
      'Give it a pool of `mysql2/promise`, or `pool.promise()` of a pool of mysql2. Pass the store as `store` to an adapter or to `createLimiter`.',
      'Call `await store.migrate()` when you deploy, as a user who may create tables.',
    ],
  },
  dynamodb: {
    when: 'rate limits of several processes or Lambda functions are to be counted in DynamoDB, not in Redis',
    facts: [
      'Give it a `DynamoDBDocumentClient` or `DynamoDBClient` of version 3 of the AWS SDK. Pass the store as `store` to an adapter or to `createLimiter`.',
      'Call `await store.migrate()` when you deploy, as a role that may create tables.',
    ],
  },
  sqlite: {
    when: 'sharing rate limits between processes or worker threads of one machine, without a server: PM2, node:cluster',
    facts: [
      'Pass it the path of a file that nothing else uses, in an existing folder on a local disk. Pass the store as `store` to an adapter or to `createLimiter`.',
      'It needs Node 22.13 or later, or the class of better-sqlite3 as `driver`.',
      'It is for one machine. For several, use Redis or PostgreSQL.',
    ],
  },
  outgoing: {
    when: 'calling a third-party API that has rate limits: pacing requests, 429 responses, Retry-After, several processes with one quota, OpenAI or Anthropic tokens',
    facts: [
      'Wrap `fetch` once, when the application starts, and use the result instead of `fetch`: `new OpenAI({ fetch: paced })`.',
      'Give all processes the same `store`, the Redis client itself, and the same `policies`. Without a store, each process paces on its own.',
      "A policy is a limit that you know: `{ limit: 500, window: '1m' }`. Without any, it follows the server's header fields. Write windows as text with a unit: a number is milliseconds.",
      'It rejects with a `WaitError` if the wait would be longer than `maxWait`, 30 s by default.',
      "A POST is not retried unless `retry: { methods: ['POST'] }` allows it, or it has an `Idempotency-Key`. If the API's client retries by itself, leave retries to it.",
      'Read or cancel every body: with `concurrent`, its slot is free when it has ended.',
    ],
  },
  budget: {
    when: 'enforcing budgets for language models in money or tokens: by API key, user, team or organisation, for an agent run, or in a gateway of your own, like LiteLLM',
    facts: [
      'Create the budget once, when the application starts, with the `store` that all processes share: the Redis client itself.',
      'Call `reserve(who, { model, input, output })` before the call, with the most output that you ask for; `call.settle(usage)` after it. If the call fails, `call.release()` keeps the estimate charged; if it was certainly not made, `call.cancel()` charges nothing.',
      'Take `who` from what you have verified, never from a header or a body. Every level needs an id; `null` means that this client has no such level.',
      'Amounts are in the unit of the budget: 20 is 20 dollars. It counts millionths.',
      'A refusal is a value: `allowed: false`, with `level` and `remaining`. `aiSdk` rejects with a `BudgetError`, and `fetch` responds with 429.',
      'If a model has no price, return `undefined` from `price`: the call is refused.',
    ],
  },
  meter: {
    when: 'billing customers by usage: Stripe, OpenMeter, a usage table',
    facts: [
      'Call `meter` once per limiter, in each process that charges.',
      'Deduplicate by `id` in the receiver: a record can be sent more than once.',
      'Call `metered.close()` when the process ends. It sends what is left.',
    ],
  },
  mcp: {
    when: 'limiting the tools, resources or prompts of an MCP server made with @modelcontextprotocol/server',
    facts: [
      'Make the limiter once, outside the function that makes the server, which runs for each HTTP request. Apply it inside.',
      'Take `key` from what has been verified, such as `http.authInfo`, never from the arguments of a tool or from the session. A new token or session must not be a new key.',
      'Without a `store`, each process counts in its own memory. Over stdio, each client starts a process: pass the client of Redis itself.',
      'A refused tool call is a result with `isError: true`, which the model reads; refused resources and prompts are errors with the code -32023. `retryAfterMs` is the wait.',
      'Over HTTP, also put `rateLimit` of the framework in front of authentication.',
    ],
  },
  otel: {
    when: 'adding metrics, traces or alerts for rate limits to an application with OpenTelemetry',
    facts: [
      'Call `instrument` once, before the first request. It measures all limiters of the process.',
      'Register the meter provider first, or pass it as `meterProvider`.',
      "No metric has a client's key or address.",
    ],
  },
  cli: {
    when: 'finding out which client is hitting its limit, resetting or blocking a client, or choosing a limit from an access log',
    facts: [
      'The commands read `REDIS_URL` or `DATABASE_URL`, which keeps passwords off the command line.',
      '`reset`, `block` and `unblock` affect single clients, `policy` changes limits for all. Without a terminal, they need `--yes`: ask before you pass it.',
      '`sluice policy set api --limit 50 --preview` counts whom a limit would refuse now, and changes nothing.',
      'If the limiters have a `prefix`, pass `--prefix`. `--json` is for programs.',
      '`sluice replay access.log --limit 100 --window 1m` shows what a limit would have refused, and changes nothing.',
    ],
  },
  migrate: {
    when: 'replacing express-rate-limit, @fastify/rate-limit, koa-ratelimit, hono-rate-limiter, rate-limiter-flexible, @nestjs/throttler or @upstash/ratelimit',
    facts: [
      'Without `--write` it prints a diff and changes nothing. Name all files of the application at once.',
      'Read every comment that begins with `sluice:`. It says what behaves differently, or why a call stays as it is, and what to write.',
      "Then install the framework's package, and run the application's tests.",
    ],
  },
  'test-suites': {
    when: 'testing your own store or adapter for Sluice',
    facts: [
      'The suites take the `describe` and `test` of any runner, and use no globals.',
      "If the store needs a server, start it in the runner's hooks, at the top of the file.",
    ],
  },
}

/** The name of a package's skill, which is that of its folder too. */
const nameOf = (name) => `sluice-${name}`

export const skills = () =>
  published.map((name) => [`packages/${name}/skills/${nameOf(name)}/SKILL.md`, skill(name)])

function skill(name) {
  const folder = join(root, 'packages', name)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  const { when, facts } = SKILLS[name]
  const parts = [
    `---\nname: ${nameOf(name)}\ndescription: ${JSON.stringify(`${manifest.description}. Use it when ${when}.`)}\nlicense: ${manifest.license}\n---`,
    '<!-- Generated by "npm run generate" from scripts/generate/skills.mjs. Do not edit. -->',
    `# ${manifest.name}`,
    `${manifest.description}.`,
    ...usage(manifest, readme),
    `## What to know\n\n${facts.map((fact) => `- ${fact}`).join('\n')}`,
  ]
  parts.push(`## Everything else

Its [README](${manifest.homepage}), [options](${SITE}options), [recipes](${SITE}recipes), and all pages in <${SITE}llms.txt>. Messages have a code and end with the [address](${SITE}errors) that explains it.`)
  return `${parts.join('\n\n')}\n`
}

/** How to install it, and the first program of the README; of a command the first commands. */
function usage({ name, exports }, readme) {
  const [commands] = /^```sh\n.*?^```$/ms.exec(readme) ?? []
  if (exports === undefined) return [`## Use it\n\n${commands}`]
  const [program] = /^```(?:js|ts)(?: \w+)?\n.*?^```$/ms.exec(readme)
  return [
    `## Install it\n\n${commands ?? `\`\`\`sh\nnpm install ${name}\n\`\`\``}`,
    `## Use it\n\n${program}`,
  ]
}
