import { expect, it } from '@jest/globals'
import type { RateLimitConfig } from '@sluice/http'
import { memoryStore } from '../stores/memory/memory-store.ts'
import type { RedisClient } from '../stores/redis/client.ts'
import { redisStore } from '../stores/redis/redis-store.ts'
import type { Store } from '../stores/store.ts'
import type { Acquisition } from './acquisition.ts'
import { createLimiter } from './create-limiter.ts'
import type { Decision } from './decision.ts'
import type { Limiter } from './limiter.ts'
import type { LimiterOptions } from './limiter-options.generated.ts'
import type { Turn } from './waiting/turn.ts'

// `npm run lint` checks these functions: they are compiled, never called.

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
  // @ts-expect-error: text is no limit
  createLimiter({ limit: '5', window: '1m' })
  // @ts-expect-error: only adapters have a request for it
  createLimiter({ limit: () => 5, window: '1m' })
  createLimiter({ ...options, name: 'daily', onDecision: ({ allowed }, _, key) => allowed && key })
  // @ts-expect-error: without a framework there is no request
  createLimiter({ ...options, onDecision: (_, request: object) => request })
  // @ts-expect-error: not a URL, but a client
  createLimiter({ ...options, store: 'redis://localhost' })
}

/** To the compiler, text of a configuration is any text. */
export function optionsOfAConfiguration() {
  const single = { limit: 10, window: '1m', algorithm: 'token-bucket', onStoreError: 'deny' }
  const several = {
    policies: [
      { name: 'burst', limit: 10, window: '1s', algorithm: 'sliding-log' },
      { name: 'slots', concurrent: 5, hold: '1m' },
    ],
    deadline: '50ms',
    ban: { after: 3, within: '1h', for: ['1m'] },
  }
  const sync: Limiter<'sync'>[] = [
    createLimiter(single as RateLimitConfig),
    createLimiter(several as RateLimitConfig),
  ]
  const withStore = { ...(single as RateLimitConfig), store: client }
  const async: Limiter<'async'> = createLimiter(withStore)
  // @ts-expect-error: any text
  async.block('key', single.window)
  return [sync, async.block('key', '10 minutes')]
}

export function policiesStandAlone() {
  const daily = { name: 'daily', limit: 5, window: '1d' } as const
  createLimiter({ policies: [daily, { name: 'burst', limit: 1, window: 1000 }] })
  // @ts-expect-error: unknown option of a policy
  createLimiter({ policies: [{ ...daily, max: 5 }] })
}

export function aPolicyCountsPerWindowOrWhatIsInProgress() {
  createLimiter({ concurrent: 5 })
  createLimiter({ concurrent: 5, hold: '1m' })
  // @ts-expect-error: only adapters have a request for it
  createLimiter({ concurrent: () => 5 })
}

export function eachOfSeveralPoliciesIsOneOrTheOther() {
  const inFlight = { name: 'in-flight', concurrent: 5 } as const
  const tokens = { name: 'tokens', limit: 5, window: '1d', unit: 'tokens' } as const
  createLimiter({ policies: [inFlight, tokens] })
}

/** An application passes options on, some of them or all, and has types of its own. */
export function optionsCanBeWrapped(
  some: Partial<LimiterOptions>,
  others: Omit<LimiterOptions, 'limit'>,
  all: Parameters<typeof createLimiter>[0],
) {
  interface Own extends LimiterOptions {
    team: string
  }
  const { team, ...own }: Own = { limit: 5, window: '1m', team: 'search' }
  createLimiter({ limit: 15, window: '5m', ...some })
  createLimiter({ ...others, limit: 15 })
  createLimiter(all)
  createLimiter(own)
  return team
}

export function unitsAreNames() {
  createLimiter({ ...options, unit: 'content-bytes' })
  createLimiter({ ...options, unit: 'pages' })
  // @ts-expect-error: a number is no unit
  createLimiter({ ...options, unit: 5 })
}

export function windowsOfTheCalendarHaveAZoneAndAnAnchor() {
  createLimiter({ limit: 5, window: 'month', timeZone: 'Europe/Berlin', anchor: 31 })
  createLimiter({ limit: 5, window: 'week', anchor: new Date(0) })
  createLimiter({ limit: 5, window: 'week', anchor: '2026-11-21' })
  // @ts-expect-error: a number is no time zone
  createLimiter({ limit: 5, window: 'day', timeZone: 60 })
  // @ts-expect-error: an object is no day
  createLimiter({ limit: 5, window: 'month', anchor: { day: 3 } })
}

export function bansAreWhole() {
  createLimiter({ ...options, ban: { after: 3, within: '1h', for: ['1m', 60_000] } })
  createLimiter({ concurrent: 5, ban: { after: 3, within: '1h', for: ['1m'] } })
  // @ts-expect-error: how long is missing
  createLimiter({ ...options, ban: { after: 3, within: '1h' } })
  // @ts-expect-error: a list
  createLimiter({ ...options, ban: { after: 3, within: '1h', for: '1m' } })
  // @ts-expect-error: unknown option
  createLimiter({ ...options, ban: { after: 3, within: '1h', for: ['1m'], until: '1m' } })
  const ban = { after: 3, within: '1h', for: ['1m'] } as const
  // @ts-expect-error: of the limiter, not of a policy
  createLimiter({ policies: [{ ...options, ban }] })
}

export async function slotsAreReleased() {
  const limiter = createLimiter({ concurrent: 5, store: client })
  const released: Promise<void> = (await limiter.acquire('key')).release()
  const own: Acquisition<'sync'> = createLimiter({ concurrent: 5 }).acquire('key')
  // @ts-expect-error: a slot is not a unit that a call chooses
  limiter.acquire('key', { slots: 2 })
  return [released, own]
}

export async function waitsArePromises(signal: AbortSignal) {
  const waited: Promise<Decision> = createLimiter(options).wait('key', { maxWait: '1s', signal })
  const slots = createLimiter({ concurrent: 5 })
  const acquired: Promise<Acquisition<'sync'>> = slots.acquire('key', {
    maxWait: '1s',
    priority: 1,
  })
  // @ts-expect-error: without maxWait, acquire does not wait
  slots.acquire('key', { signal })
  const turn: Turn<'sync'> = createLimiter(options).takeTurn('key')
  // @ts-expect-error: a text is no signal
  slots.acquire('key', { maxWait: '1s', signal: 'now' })
  return [await waited, await acquired, turn.cancel()]
}

export function wrongArgumentsDoNotCompile() {
  const limiter = createLimiter(options)
  // @ts-expect-error: no key
  limiter.consume(undefined)
  // @ts-expect-error: text is no cost
  limiter.consume('key', { cost: '2' })
  // @ts-expect-error: unknown option
  limiter.consume('key', { costs: 2 })
  // @ts-expect-error: unknown option
  memoryStore({ maxKey: 5 })
  // @ts-expect-error: unknown option
  redisStore(client, { ttl: 60 })
}

it('is proved by the compiler', () => {
  const { allowed } = createLimiter(options).consume('key')
  expect(allowed).toBe(true)
})
