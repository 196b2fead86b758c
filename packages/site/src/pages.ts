/** A page of the site, made of a Markdown file of the repository. */
export interface Page {
  /** Path of its source in the repository. */
  readonly file: string
  /** The title in the navigation. */
  readonly title: string
  /** Describes the page in one line. */
  readonly summary: string
}

export interface Section {
  readonly title: string
  /** Its name at the top of each page. Default: it is in the sidebar alone. */
  readonly short?: string
  readonly pages: readonly Page[]
}

const doc = (name: string, title: string, summary: string): Page => {
  return { file: `docs/${name}.md`, title, summary }
}
const readme = (name: string, title: string, summary: string): Page => {
  return { file: `packages/${name}/README.md`, title, summary }
}

export const HOME = doc('README', 'Sluice', 'What Sluice is, with a complete example')
export const LIVE = doc('live', 'Live', 'Six limiters with your requests, in your browser')

/** A link for each task, in the words that people search for: the search uses them. */
export const TASKS = doc('i-want-to', 'I want to …', 'Tasks, each with a link to its answer')

/** All pages but the first and the live one, in the order in which they are read. */
export const SECTIONS: readonly Section[] = [
  {
    title: 'Start in five minutes',
    short: 'Start',
    pages: [
      doc('start/express', 'Express', 'A server with a limit, and its first refusal'),
      doc('start/fastify', 'Fastify', 'A first limit with Fastify’s plugin'),
      doc('start/koa', 'Koa', 'A first limit with Koa'),
      doc('start/hono', 'Hono', 'A first limit with Hono, on Node'),
      doc('start/nest', 'NestJS', 'A first limit with Nest’s module and guard'),
      doc('start/node', 'Node', 'A first limit without a framework'),
      doc('start/redis', 'Redis', 'One limit for several processes, counted in Redis'),
      doc(
        'start/postgresql',
        'PostgreSQL',
        'One limit for several processes, counted in PostgreSQL',
      ),
      doc('start/sqlite', 'SQLite', 'One limit for all processes of a machine, in a file'),
    ],
  },
  {
    title: 'Where it runs',
    short: 'Runs on',
    pages: [
      doc('places/nextjs', 'Next.js', 'Route handlers, proxy.ts and Server Actions'),
      doc('places/sveltekit', 'SvelteKit', 'The handle hook, with form actions'),
      doc('places/nuxt', 'Nuxt and Nitro', 'Server middleware, and $fetch during rendering'),
      doc('places/react-router', 'React Router', 'Middleware in framework mode'),
      doc('places/trpc', 'tRPC', 'Each call of a batch, and the client’s error'),
      doc('places/graphql-yoga', 'GraphQL Yoga', 'What a query costs, estimated and settled'),
      doc('places/apollo', 'Apollo Server', 'What a query costs, with a plugin'),
      doc('places/better-auth', 'better-auth', 'Its rules, counted in Redis with customStorage'),
      doc('places/functions', 'Functions', 'Lambda and others: instances, addresses, freezes'),
      doc(
        'places/cloudflare',
        'Cloudflare Workers',
        'Redis over HTTP, and work that outlives its request',
      ),
      doc(
        'places/durable-objects',
        'Durable Objects',
        'Each client counted in an object of its own',
      ),
      doc('places/vercel-edge', 'Vercel’s Edge runtime', 'Redis over HTTP from an edge function'),
      doc('places/other-frameworks', 'Other frameworks', 'Astro, AdonisJS, Moleculer, LoopBack'),
      doc('places/feathers', 'Feathers', 'One hook for HTTP and sockets'),
      doc('places/socket-io', 'Socket.IO', 'Connections, open connections and events'),
      doc(
        'places/mcp',
        'MCP servers',
        'Tools, over HTTP and stdio, with waits that the model reads',
      ),
      doc('places/pm2', 'PM2 and cluster', 'Several processes on one port'),
      doc('places/api-keys', 'API keys', 'Failed keys, each key, and each account'),
      doc('places/proxies', 'Behind a proxy', 'nginx, Cloudflare, Fly.io, Heroku, ALB by name'),
      doc('places/testing', 'Jest and Vitest', 'Clocks, fake timers, ioredis-mock'),
    ],
  },
  {
    title: 'Guides',
    short: 'Guides',
    pages: [
      TASKS,
      doc('algorithms', 'The five algorithms', 'What each admits, and when to choose it'),
      doc('choosing', 'Choosing a limit', 'From your access log to an algorithm and a limit'),
      doc('production', 'Before production', 'A checklist before clients depend on it'),
      doc('plans', 'Plans and changes', "Changed limits, one client's limit, top-ups, thresholds"),
      doc(
        'live-policies',
        'Live policies',
        'Try a limit before it refuses, and change it while the application runs',
      ),
      doc('waiting', 'Waiting', 'Requests that wait for the limit, in order'),
      doc('overload', 'Overload', 'Load shedding: important requests first, the rest refused'),
      doc('outgoing', 'Calling third-party APIs', 'A fetch that paces, obeys 429 and retries'),
      doc(
        'budgets',
        'Budgets for language models',
        'Money and tokens by key, team and organisation',
      ),
      doc('metering', 'Metering', 'Charges sent to Stripe, OpenMeter or a table'),
      doc('websockets', 'WebSockets', 'Handshakes, open connections and messages'),
      doc('nest', 'NestJS beyond HTTP', 'GraphQL, microservices, gateways, @nestjs/throttler'),
      doc('recipes', 'Recipes', 'Logins, tokens, plans, bans, calendar windows, streams'),
      doc('settle', 'Costs known afterwards', 'Reserve first or charge afterwards, with figures'),
      doc('migrating', 'Migrating', 'From other limiters, option by option'),
    ],
  },
  {
    title: 'Operate',
    short: 'Operate',
    pages: [
      doc('failures', 'Failures', 'What happens when Redis or PostgreSQL fails, measured'),
      doc('operations', 'Operations', 'On call, metrics, alerts, sizing Redis'),
      doc('cli', 'The sluice command', 'Every command and option of sluice, and replaying a log'),
      doc('redis', 'Redis', 'Failover, clusters, at most once'),
      doc('leases', 'Leases', 'Busy keys decided without a call to the store'),
      doc('postgresql', 'PostgreSQL', 'The table, the pool, crashes, what to watch'),
      doc('sqlite', 'SQLite', 'The file, what is kept, what is admitted'),
      doc('performance', 'Performance', 'What a limit costs, compared with other limiters'),
      doc('security', 'Security', 'What an attacker can and cannot do, with the bounds'),
    ],
  },
  {
    title: 'Extend',
    pages: [
      doc('stores', 'A store of your own', 'The contract, the bases and the tests of stores'),
      doc('adapters', 'An adapter of your own', 'For a framework without one'),
      readme('test-suites', '@sluice/test-suites', 'The tests of stores and adapters'),
    ],
  },
  {
    title: 'Reference',
    short: 'Reference',
    pages: [
      doc('options', 'Options', 'Every option: an example, values, default, when to avoid it'),
      doc('options-http', 'Options for HTTP', 'The options for requests and responses'),
      doc('http', 'Limits on HTTP', 'Refusals, clients, routes and several limits'),
      doc('limiter', 'The limiter', 'Its methods, without HTTP; networks; what a store holds'),
      doc('decision', 'The decision', 'Every field of a limiter’s decision'),
      doc('events', 'Events', 'What limiters publish on diagnostics channels'),
      doc('metrics', 'Metrics', 'Every metric and attribute for OpenTelemetry'),
      doc('errors', 'Errors and warnings', 'Every code: meaning, cause, what to do'),
      doc('comparison', 'Comparison', 'Sluice and seven other limiters, tested'),
      doc('compatibility', 'Compatibility', 'Tested servers, clients and versions'),
    ],
  },
  {
    title: 'Packages',
    pages: [
      readme('express', '@sluice/express', 'Express 4 and 5'),
      readme('fastify', '@sluice/fastify', 'Fastify 5'),
      readme('koa', '@sluice/koa', 'Koa 2 and 3'),
      readme('hono', '@sluice/hono', 'Hono 4, and Fetch handlers'),
      readme('elysia', '@sluice/elysia', 'Elysia 1.4, on Bun and Node'),
      readme('nest', '@sluice/nest', 'NestJS 11 and 12'),
      readme('node', '@sluice/node', 'Node’s own servers, WebSocket handshakes'),
      readme('core', '@sluice/core', 'Limits without HTTP, stores, tests of your application'),
      readme('postgres', '@sluice/postgres', 'The PostgreSQL store'),
      readme('mysql', '@sluice/mysql', 'The MySQL and MariaDB store'),
      readme('dynamodb', '@sluice/dynamodb', 'The DynamoDB store'),
      readme('sqlite', '@sluice/sqlite', 'The SQLite store, for one machine'),
      readme('http', '@sluice/http', 'The base of an adapter of your own'),
      readme('transactional', '@sluice/transactional', 'The base of a store of your own'),
      readme(
        'outgoing',
        '@sluice/outgoing',
        'A fetch that keeps to the limits of third-party APIs',
      ),
      readme('budget', '@sluice/budget', 'Budgets for language models, in money or tokens'),
      readme('mcp', '@sluice/mcp', 'Tools, resources and prompts of MCP servers'),
      readme('meter', '@sluice/meter', 'Sends charges to your billing'),
      readme('otel', '@sluice/otel', 'Metrics and traces for OpenTelemetry'),
      readme('cli', '@sluice/cli', 'Operating a store, replaying an access log'),
      readme('migrate', '@sluice/migrate', 'Rewriting code that uses other limiters'),
    ],
  },
]

export const PAGES: readonly Page[] = [HOME, ...SECTIONS.flatMap(({ pages }) => pages), LIVE]

/** The page's path on the site, without a slash in front: `options`, `packages/core`, `` (the first). */
export function pathOf({ file }: Page): string {
  return file.replace(/^docs\//, '').replace(/(^|\/)README\.md$|\.md$/, '')
}

/** The file that VitePress makes the page of, as if it were there: `options.md`, `index.md`. */
export function sourceAsServed(page: Page): string {
  return `${pathOf(page) || 'index'}.md`
}
