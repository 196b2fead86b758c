import { expect, it } from '@jest/globals'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { RedisClient } from '../stores/redis/client.ts'
import { redisStore } from '../stores/redis/redis-store.ts'
import type { Store } from '../stores/store.ts'
import { createLimiter } from './create-limiter.ts'
import type { Decision } from './decision.ts'

// `npm run typecheck` checks these functions: they are compiled, never called.

declare const client: RedisClient
declare const either: Store
const options = { limit: 10, window: '1m' } as const

export function memoryAnswersAtOnce() {
  const own: Decision = createLimiter(options).consume('key')
  const handed: Decision = createLimiter({ ...options, store: memoryStore() }).peek('key')
  return [own.allowed, handed.remaining]
}

export async function redisAnswersByPromise() {
  const limiter = createLimiter({ ...options, store: redisStore(client) })
  const promised: Promise<Decision> = limiter.consume('key')
  const settled: Promise<void> = limiter.settle('key', -1)
  const direct: Promise<Decision> = createLimiter({ ...options, store: client }).consume('key')
  // @ts-expect-error: it must be awaited
  limiter.consume('key').allowed
  // @ts-expect-error: a promise is no decision
  const wrong: Decision = limiter.peek('key')
  return [await promised, await settled, await direct, wrong]
}

/** `store: url ? new Redis(url) : undefined`, for development without a Redis. */
export async function aStoreThatMayBeMissingIsEither(client: RedisClient | undefined) {
  const limiter = createLimiter({ ...options, store: client })
  const decision: Decision | Promise<Decision> = limiter.consume('key')
  // @ts-expect-error: it may be synchronous
  const promised: Promise<Decision> = limiter.peek('key')
  // @ts-expect-error: it may be a promise
  const atOnce: Decision = limiter.peek('key')
  // @ts-expect-error: none of them is always a promise
  limiter.reset('key').then
  const store: Store<'async'> | undefined = client && redisStore(client)
  // @ts-expect-error: the same for a store
  const other: Promise<Decision> = createLimiter({ ...options, store }).consume('key')
  const settled: void | Promise<void> = limiter.settle('key', -1)
  return [await decision, promised, atOnce, other, settled]
}

export async function awaitServesBoth() {
  const decision: Decision = await createLimiter({ ...options, store: either }).consume('key')
  const atOnce: Decision = await createLimiter(options).consume('key')
  return [decision, atOnce]
}

export function decisionsCannotBeChanged(decision: Decision) {
  // @ts-expect-error: read-only
  decision.allowed = true
  // @ts-expect-error: read-only
  decision.policies.push(decision.policies[0])
}

export function wrongOptionsDoNotCompile() {
  // @ts-expect-error: unknown option
  createLimiter({ ...options, max: 5 })
  // @ts-expect-error: a limit is required
  createLimiter({ window: '1m' })
  // @ts-expect-error: a window is required
  createLimiter({ limit: 5 })
  // @ts-expect-error: text is no limit
  createLimiter({ limit: '5', window: '1m' })
  // @ts-expect-error: only adapters have a request for it
  createLimiter({ limit: () => 5, window: '1m' })
  // @ts-expect-error: no such unit
  createLimiter({ limit: 5, window: '1 fortnight' })
  // @ts-expect-error: no unit at all
  createLimiter({ limit: 5, window: '60000' })
  // @ts-expect-error: no such algorithm
  createLimiter({ ...options, algorithm: 'gcra' })
  createLimiter({ ...options, name: 'daily', onDecision: ({ allowed }) => allowed })
  // @ts-expect-error: without a framework there is no request
  createLimiter({ ...options, onDecision: (_, request: object) => request })
  // @ts-expect-error: not a URL, but a client
  createLimiter({ ...options, store: 'redis://localhost' })
}

export function policiesStandAlone() {
  const daily = { name: 'daily', limit: 5, window: '1d' } as const
  createLimiter({ policies: [daily, { name: 'burst', limit: 1, window: 1000 }] })
  // @ts-expect-error: either policies, or limit and window
  createLimiter({ policies: [daily], limit: 5 })
  // @ts-expect-error: either policies, or limit and window
  createLimiter({ ...options, policies: [daily] })
  // @ts-expect-error: unknown option of a policy
  createLimiter({ policies: [{ ...daily, max: 5 }] })
}

export function wrongArgumentsDoNotCompile() {
  const limiter = createLimiter(options)
  // @ts-expect-error: no key
  limiter.consume(undefined)
  // @ts-expect-error: text is no cost
  limiter.consume('key', { cost: '2' })
  // @ts-expect-error: unknown option
  limiter.consume('key', { costs: 2 })
  // @ts-expect-error: no such unit
  limiter.block('key', '1 fortnight')
  // @ts-expect-error: unknown option
  memoryStore({ maxKey: 5 })
  // @ts-expect-error: unknown option
  redisStore(client, { ttl: 60 })
}

it('is proved by the compiler', () => {
  const { allowed } = createLimiter(options).consume('key')
  expect(allowed).toBe(true)
})
