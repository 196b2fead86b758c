// Requests without a limit, plain ones, and ones that are settled, which alternate in one process.

import type { RequestListener } from 'node:http'
import { type RateLimitOptions, rateLimit } from '@sluice/node'
import { shedLoad } from '@sluice/node/overload'
import { Redis } from 'ioredis'
import { inject } from '../contenders/inject.ts'
import { LIMIT, WINDOW_MS } from '../contenders/terms.ts'
import { ownCpuMicros, redisMeter } from '../decisions/usage.ts'
import { defineTask } from '../processes/task.ts'

export interface SettlingTask {
  readonly rounds: number
  /** The address of a Redis. */
  readonly url: string
}

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

/** Runs something, and says what it took, µs. */
type Measure = (act: () => Promise<void>) => Promise<number>

defineTask(async ({ rounds, url }: SettlingTask): Promise<SettlingCosts> => {
  const client = new Redis(url)
  const meter = redisMeter([client])
  const scriptMicros: Measure = async (act) => (await meter(act)).usage.scriptMicros
  return {
    memory: [...(await measure('memory', rounds, inMemory(), ownCpuMicros))],
    redis: [...(await measure('redis', rounds, limited(client), scriptMicros))],
  }
})

function inMemory(): Map<string, RequestListener> {
  const shed = shedLoad()
  return new Map<string, RequestListener>([
    ['bare', (_, response) => response.end('{}')],
    ['shedLoad', (request, response) => shed(request, response, () => response.end('{}'))],
    ...limited(),
  ])
}

function limited(store?: Redis): Map<string, RequestListener> {
  const served = new Map<string, RequestListener>()
  for (const [kind, options] of Object.entries(KINDS)) {
    const shared =
      store === undefined ? {} : { store, prefix: kind.replace(/\W+/g, '-'), deadline: '30s' }
    const limit = rateLimit({ headers: 'draft-11', ...options, ...shared } as RateLimitOptions)
    served.set(kind, (request, response) => limit(request, response, () => response.end('{}')))
  }
  return served
}

/** @returns what a request of each kind took in each round */
async function measure(
  store: 'memory' | 'redis',
  rounds: number,
  served: ReadonlyMap<string, RequestListener>,
  micros: Measure,
): Promise<Map<string, number[]>> {
  const samples = new Map([...served.keys()].map((kind) => [kind, [] as number[]]))
  for (const listener of served.values()) await run(listener, WARM_UP[store])
  for (let round = 0; round < rounds; round += 1) {
    for (const [kind, listener] of served) {
      const took = await micros(() => run(listener, REQUESTS[store]))
      samples.get(kind)?.push(took / REQUESTS[store])
    }
  }
  return samples
}

async function run(listener: RequestListener, requests: number): Promise<void> {
  for (let i = 0; i < requests; i += 1)
    await new Promise((done) => setImmediate(() => inject(listener).then(done)))
}
