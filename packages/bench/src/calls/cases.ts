import { setTimeout } from 'node:timers/promises'
import { type Acquisition, createLimiter, type Limiter, redisStore } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import type { Redis } from 'ioredis'

/** The documented maxima. */
const LOG = 10_000
const SLOTS = 1000
/** Many requests of one turn of the event loop. */
const TURN = 1000
const WINDOW_MS = 1_000_000

/** A case: the function that it resolves with sends the measured calls to Redis. */
export interface Case {
  readonly kind: string
  readonly what: string
  prepare(client: Redis): Promise<{ run(): Promise<unknown>; limiter: Limiter<'async'> }>
}

let limiters = 0

function limit(client: Redis, options: object, clock?: () => number): Limiter<'async'> {
  limiters += 1
  return createLimiter({
    store: redisStore(client, clock && { clock }),
    prefix: `bench-${limiters}`,
    deadline: '60s',
    refusalCache: false,
    ...options,
  } as never) as unknown as Limiter<'async'>
}

async function times<T>(count: number, act: (i: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => act(i)))
}

/** Requests of one turn, each of a client of its own. */
function turnOf(what: string, options: object): Case {
  return {
    kind: 'decide',
    what: `${TURN} requests of one turn, ${what}`,
    async prepare(client) {
      const limiter = limit(client, options)
      return { limiter, run: () => times(TURN, (i) => limiter.consume(`client-${i}`)) }
    },
  }
}

/** Writes a log with an entry for each of the last ms, as the script would. */
async function fillLog(client: Redis, limiter: Limiter<'async'>, now: number, clock: number) {
  await limiter.consume('client')
  const [key] = await client.keys(`bench-${limiters}:{client}:*`)
  const entries = Array.from({ length: LOG }, (_, i) => [now - LOG + i + 1, 1]).flat()
  const state = new Float64Array([0, LOG, LOG, clock + 10 * WINDOW_MS, ...entries])
  await client.set(key as string, Buffer.from(state.buffer))
}

/** A full sliding log, whose newest entry is of `sinceMs` ago. */
function fullLog(
  kind: string,
  what: string,
  sinceMs: number,
  act: (limiter: Limiter<'async'>, now: number) => Promise<unknown>,
): Case {
  return {
    kind,
    what,
    async prepare(client) {
      const clock = manualClock(1_800_000_000_000)
      const terms = { algorithm: 'sliding-log', limit: LOG, window: WINDOW_MS }
      const limiter = limit(client, terms, clock)
      await fillLog(client, limiter, clock() - sinceMs, clock())
      return { limiter, run: () => act(limiter, clock()) }
    },
  }
}

/** Slots in use, of so many keys. Nothing but `renewed` renews them: they are held for long without it. */
function slotsOf(
  kind: string,
  what: string,
  keys: number,
  act: (limiter: Limiter<'async'>, held: readonly Acquisition<'async'>[]) => Promise<unknown>,
  count = SLOTS,
): Case {
  return {
    kind,
    what,
    async prepare(client) {
      const limiter = limit(client, { concurrent: SLOTS, hold: act === renewed ? '1s' : '1h' })
      const held = await times(count, (i) => limiter.acquire(`client-${i % keys}`))
      return { limiter, run: () => act(limiter, held) }
    },
  }
}

/** As many reservations as a key can have of one client; then the clock steps, and one more is made. */
function steppedBy(ms: number, what: string): Case {
  return {
    kind: 'decide',
    what: `${SLOTS} reservations of a key, ${what}`,
    async prepare(client) {
      const clock = manualClock(1_800_000_000_000)
      const terms = { limit: 1e9, window: '1d', reserve: true, hold: '1h' }
      const limiter = limit(client, terms, clock)
      await times(SLOTS, () => limiter.acquire('client'))
      clock.advance(ms)
      return { limiter, run: () => limiter.acquire('client') }
    },
  }
}

/** Long enough for one renewal, which comes after a third of `hold`. */
const renewed = () => setTimeout(600)

async function read(client: Redis, limiter: Limiter<'async'>, clock?: () => number) {
  for await (const _ of redisStore(client, clock && { clock }).inspect({
    prefix: `bench-${limiters}`,
  })) {
    // Reads all.
  }
  return limiter
}

function severalPolicies(count: number, algorithm: string): object {
  const policies = Array.from({ length: count }, (_, i) => {
    return { name: `policy-${i}`, algorithm, limit: 1000 + i, window: '1h' }
  })
  return { policies }
}

/** Many full logs are read as they expire. */
function inspection(): Case {
  return {
    kind: 'inspect',
    what: `25 sliding logs of ${LOG}, half of each has expired`,
    async prepare(client) {
      const clock = manualClock(1_800_000_000_000)
      const terms = { algorithm: 'sliding-log', limit: LOG, window: WINDOW_MS }
      const limiter = limit(client, terms, clock)
      await fillLog(client, limiter, clock() - WINDOW_MS + LOG / 2, clock())
      const [key] = (await client.keys(`bench-${limiters}:{client}:*`)) as [string]
      for (let i = 1; i < 25; i += 1) await client.copy(key, key.replace('client', `client-${i}`))
      return { limiter, run: () => read(client, limiter, clock) }
    },
  }
}

export const cases: readonly Case[] = [
  turnOf('sliding window', { limit: 1000, window: '1h' }),
  turnOf('3 buckets', severalPolicies(3, 'token-bucket')),
  turnOf('32 buckets', severalPolicies(32, 'token-bucket')),
  turnOf(`sliding log of ${LOG}`, { algorithm: 'sliding-log', limit: LOG, window: '1h' }),
  fullLog('decide', `100 of one turn, refused by a full sliding log of ${LOG}`, 0, (limiter) =>
    times(100, () => limiter.consume('client', { cost: LOG })),
  ),
  fullLog('decide', 'all but one entry of the log have expired', WINDOW_MS - 2, (limiter) =>
    limiter.consume('client'),
  ),
  fullLog('decide', 'the clock has stepped back behind the log', -LOG, (limiter) =>
    limiter.consume('client', { cost: LOG }),
  ),
  slotsOf(
    'decide',
    `100 of one turn take slots, ${SLOTS - 100} of ${SLOTS} are in use`,
    1,
    (limiter) => times(100, () => limiter.acquire('client-0')),
    SLOTS - 100,
  ),
  steppedBy(3_600_000, 'all of which have ended'),
  steppedBy(-60_000, 'and the clock has stepped back'),
  fullLog('peek', `a full sliding log, for all of it`, WINDOW_MS - LOG / 2, (limiter) =>
    limiter.peek('client'),
  ),
  fullLog('settle', 'gives all entries of a log back', 0, (limiter, at) =>
    limiter.settle('client', -LOG, { at }),
  ),
  fullLog('settle', 'gives back in the middle of a log', 0, (limiter, at) =>
    limiter.settle('client', -1, { at: at - LOG / 2 }),
  ),
  fullLog('settle', 'charges more before all entries of a log', 0, (limiter, at) =>
    limiter.settle('client', 1, { at: at - LOG - 1 }),
  ),
  slotsOf('release', `one of ${SLOTS} slots of a key`, 1, async (_, held) =>
    held[SLOTS / 2]?.release(),
  ),
  slotsOf('renew', `${SLOTS} slots of one key`, 1, renewed),
  slotsOf('renew', `${SLOTS} slots of ${SLOTS} keys`, SLOTS, renewed),
  fullLog('block', `a full sliding log of ${LOG}`, 0, (limiter) => limiter.block('client', 1000)),
  fullLog('reset', `a full sliding log of ${LOG}`, 0, (limiter) => limiter.reset('client')),
  inspection(),
]
