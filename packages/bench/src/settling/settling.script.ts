// Requests without a limit, plain ones, and ones that are settled, which alternate in one process: prints what each
// took, as a line of JSON. Its arguments: the rounds, and the URL of a Redis.

import type { RequestListener } from 'node:http'
import { type RateLimitOptions, rateLimit } from '@sluice/node'
import { Redis } from 'ioredis'
import { inject } from '../contenders/inject.ts'
import { LIMIT, WINDOW_MS } from '../contenders/terms.ts'

/** Samples of each kind: CPU of a request in memory, and script time of one on Redis, µs. */
export interface SettlingCosts {
  readonly memory: readonly (readonly [kind: string, samples: number[]])[]
  readonly redis: readonly (readonly [kind: string, samples: number[]])[]
}

/** Requests of each kind before the rounds, and in each of them. */
const WARM_UP = { memory: 20_000, redis: 2000 }
const REQUESTS = { memory: 4000, redis: 1000 }

const counted = { limit: LIMIT, window: WINDOW_MS, algorithm: 'fixed-window', cost: 10 } as const
const KINDS: Readonly<Record<string, RateLimitOptions>> = {
  plain: { ...counted, cost: 1 },
  'settle, as estimated': { ...counted, settle: () => 10 },
  'settle, less': { ...counted, settle: () => 7 },
  'settle, more': { ...counted, settle: () => 12 },
  reserve: { ...counted, reserve: true, settle: () => 7 },
}
const BARE = 'no limiter'

const rounds = Number(process.argv[2])
const client = new Redis(process.argv[3] as string)
const memory = [...(await measure('memory', serve(), cpuMicros))]
const redis = [...(await measure('redis', serve(client), scriptMicros))]
client.disconnect()
console.log(JSON.stringify({ memory, redis } satisfies SettlingCosts))

function serve(store?: Redis): Map<string, RequestListener> {
  const served = new Map<string, RequestListener>()
  if (store === undefined) served.set(BARE, (_, response) => response.end('{}'))
  for (const [kind, options] of Object.entries(KINDS)) {
    const shared =
      store === undefined ? {} : { store, prefix: kind.replace(/\W+/g, '-'), deadline: '30s' }
    const limit = rateLimit({ headers: 'draft-11', ...options, ...shared } as RateLimitOptions)
    served.set(kind, (request, response) => limit(request, response, () => response.end('{}')))
  }
  return served
}

/** @returns what `micros` counts for one request, for each kind and round */
async function measure(
  store: 'memory' | 'redis',
  served: ReadonlyMap<string, RequestListener>,
  micros: () => number | Promise<number>,
): Promise<Map<string, number[]>> {
  const samples = new Map([...served.keys()].map((kind) => [kind, [] as number[]]))
  for (const listener of served.values()) await run(listener, WARM_UP[store])
  for (let round = 0; round < rounds; round += 1) {
    for (const [kind, listener] of served) {
      const from = await micros()
      await run(listener, REQUESTS[store])
      samples.get(kind)?.push(((await micros()) - from) / REQUESTS[store])
    }
  }
  return samples
}

async function run(listener: RequestListener, requests: number): Promise<void> {
  for (let i = 0; i < requests; i += 1)
    await new Promise((done) => setImmediate(() => inject(listener).then(done)))
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** The time of all scripts that the server has run. */
async function scriptMicros(): Promise<number> {
  const stats = await client.info('commandstats')
  const times = stats.matchAll(/^cmdstat_eval(?:sha)?:calls=\d+,usec=(\d+)/gm)
  return [...times].reduce((sum, [, micros]) => sum + Number(micros), 0)
}
