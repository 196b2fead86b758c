// A server of Hono with one contender, in a process of its own: on Node, or on Bun. It prints its port, and
// answers `/cpu` with the CPU time of the process, µs.

import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { memoryStore, rateLimit as sluice } from '@sluice/hono'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { RedisStore, rateLimiter } from 'hono-rate-limiter'
import { Redis } from 'ioredis'
import { createAdaptorServer as createAdaptorServer1 } from 'node-server1'
import { AS_PEER } from '../contenders/http.ts'
import { BODY, LIMIT, WINDOW_MS } from '../contenders/terms.ts'

export interface ServingTask {
  readonly server: 'node-server 2' | 'node-server 1' | 'Bun'
  readonly contender: 'bare' | 'sluice' | typeof AS_PEER | 'hono-rate-limiter'
  /** The URL of a Redis; undefined: it counts in memory. */
  readonly redis: string | undefined
}

/** The server of Bun, as far as it serves a request. */
interface BunServer {
  readonly port: number
  requestIP(request: Request): { address: string } | null
}

const task: ServingTask = JSON.parse(process.argv[2] as string)
const redis = task.redis === undefined ? undefined : new Redis(task.redis)

function address(c: Context): string {
  if (task.server === 'Bun') return (c.env as BunServer).requestIP(c.req.raw)?.address as string
  return (c.env as { incoming: IncomingMessage }).incoming.socket.remoteAddress as string
}

/** The client that the store of hono-rate-limiter takes. */
function scripts(client: Redis): ConstructorParameters<typeof RedisStore>[0]['client'] {
  return {
    scriptLoad: async (script: string) => String(await client.script('LOAD', script)),
    evalsha: async <_, Result>(sha: string, keys: string[], args: unknown[]) =>
      (await client.evalsha(sha, keys.length, ...keys, ...(args as string[]))) as Result,
    del: (key: string) => client.del(key),
  } as ConstructorParameters<typeof RedisStore>[0]['client']
}

const limiters: Record<ServingTask['contender'], () => MiddlewareHandler | undefined> = {
  bare: () => undefined,
  sluice: () =>
    sluice({
      limit: LIMIT,
      window: WINDOW_MS,
      store: redis ?? memoryStore(),
      deadline: '30s',
      address,
    }),
  [AS_PEER]: () =>
    sluice({
      limit: LIMIT,
      window: WINDOW_MS,
      algorithm: 'fixed-window',
      headers: 'draft-6',
      store: redis ?? memoryStore(),
      deadline: '30s',
      address,
    }),
  'hono-rate-limiter': () =>
    rateLimiter({
      windowMs: WINDOW_MS,
      limit: LIMIT,
      keyGenerator: address,
      ...(redis && { store: new RedisStore({ client: scripts(redis) }) }),
    }),
}

const app = new Hono()
app.get('/cpu', (c) => {
  const { user, system } = process.cpuUsage()
  return c.json(user + system)
})
const limiter = limiters[task.contender]()
if (limiter !== undefined) app.use(limiter)
app.get('/', (c) => c.json(BODY))

if (task.server === 'Bun') {
  const { Bun } = globalThis as unknown as { Bun: { serve(options: object): BunServer } }
  console.log(Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.fetch }).port)
} else {
  const create = task.server === 'node-server 2' ? createAdaptorServer : createAdaptorServer1
  const server = create({ fetch: app.fetch } as never)
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
}
