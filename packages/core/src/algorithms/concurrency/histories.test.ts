import { expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { mapStore } from '@sluice/transactional/testing'
import fc from 'fast-check'
import { memoryStore, redisStore, type Store } from '../../index.ts'
import { manualClock } from '../../testing/index.ts'
import { withVerbs } from '../../testing/ledger-verbs.ts'
import type { CompiledLimit, Outcome } from '../algorithm.ts'
import { concurrency } from './concurrency.ts'

const START = 1_800_000_000_000
/** For how long each of the two processes holds its slots, ms: they may be versions that differ in that. */
const HOLDS = [3000, 4000] as const

const redis = useRedis()
let histories = 0

/** What happens to one key of two processes, each of which knows which slots it holds. */
type Event =
  | { readonly pass: number }
  | { readonly acquire: number }
  | { readonly release: number; readonly which: number }
  | { readonly renew: number }
  /** The process dies, and forgets its slots. */
  | { readonly kill: number }
  | { readonly lose: 'everything' }

const anyProcess = fc.constantFrom(0, 1)
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ acquire: anyProcess }) },
  { weight: 3, arbitrary: fc.record({ release: anyProcess, which: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ renew: anyProcess }) },
  { weight: 9, arbitrary: fc.record({ pass: fc.constantFrom(1, 999, 2500, 3000, -500, -2000) }) },
  { weight: 1, arbitrary: fc.record({ kill: anyProcess }) },
  { weight: 1, arbitrary: fc.record({ lose: fc.constant('everything' as const) }) },
)

/** The definition: what is held until when, and for how long. Only what changes it drops what has ended. */
class Model {
  #held = new Map<number, { readonly until: number; readonly hold: number }>()
  /** When something was held last: if that is later than now, the clock has stepped back. */
  #heldAt = 0

  /** Slots in use. */
  inUse(now: number): number {
    return Array.from(this.#held.values()).filter(({ until }) => until > now).length
  }

  /** How long the last of them is held, ms from `now` on: no longer than if it had been taken just now. */
  lastMs(now: number): number {
    const ends = Array.from(this.#held.values(), ({ until, hold }) => Math.min(until - now, hold))
    return Math.max(0, ...ends)
  }

  hold(slot: number, now: number, hold: number): void {
    this.#move(now)
    this.#held.set(slot, { until: now + hold, hold })
    this.#heldAt = now
  }

  refuse(now: number): void {
    if (this.#heldAt > now) this.#move(now)
  }

  release(slot: number, now: number): void {
    this.#move(now)
    this.#held.delete(slot)
  }

  clear(): void {
    this.#held.clear()
  }

  #move(now: number): void {
    for (const [slot, { until, hold }] of this.#held) {
      if (until <= now) this.#held.delete(slot)
      else this.#held.set(slot, { until: Math.min(until, now + hold), hold })
    }
    this.#heldAt = Math.min(this.#heldAt, now)
  }
}

async function play(storeOn: (clock: () => number) => Store, limit: number, events: Event[]) {
  const clock = manualClock(START)
  const model = new Model()
  const store = storeOn(clock)
  histories += 1
  const keyspace = { name: 'slots', algorithm: concurrency }
  const ledger = withVerbs(store.open([keyspace], `histories:${histories}`))
  const limits = HOLDS.map((windowMs) => concurrency.compile({ limit, windowMs }))
  const charge = (place: number, slot: number, cost = 1) => {
    return [{ key: 'ada', limit: limits[place] as CompiledLimit, cost, claim: [slot] }]
  }
  const processes: number[][] = [[], []]
  let last = Number.MAX_SAFE_INTEGER - 300
  for (const event of events) {
    const now = clock()
    if ('pass' in event) clock.advance(event.pass)
    else if ('acquire' in event) {
      last += 1
      const place = event.acquire
      const { admitted, outcomes } = await ledger.consume(charge(place, last))
      const free = limit - model.inUse(now)
      if (free > 0) {
        model.hold(last, now, HOLDS[place] as number)
        processes[place]?.push(last)
      } else model.refuse(now)
      const [{ remaining, resetMs }] = outcomes as [Outcome]
      const expected = [free > 0, Math.max(0, free - 1), model.lastMs(now)]
      expect([admitted, remaining, resetMs]).toEqual(expected)
    } else if ('release' in event) {
      const held = processes[event.release] as number[]
      const [slot] = held.splice(event.which % Math.max(1, held.length), 1)
      if (slot === undefined) continue
      await ledger.settle(charge(event.release, slot, -1))
      model.release(slot, now)
    } else if ('renew' in event) {
      const held = processes[event.renew] as number[]
      await ledger.renew(held.map((slot) => charge(event.renew, slot)))
      for (const slot of held) model.hold(slot, now, HOLDS[event.renew] as number)
    } else if ('kill' in event) processes[event.kill] = []
    else {
      await ledger.reset('ada')
      model.clear()
    }
  }
  store.close()
}

const anyHistory = fc.noBias(fc.array(anyEvent, { minLength: 30, maxLength: 60 }))
const anyLimit = fc.integer({ min: 0, max: 4 })

test('in memory, no history admits more than are free, or fewer', async () => {
  const property = fc.asyncProperty(anyLimit, anyHistory, (limit, events) =>
    play((clock) => memoryStore({ clock }), limit, events),
  )
  await fc.assert(property, { numRuns: 500 })
})

test('in transactions neither', async () => {
  const property = fc.asyncProperty(anyLimit, anyHistory, (limit, events) =>
    play(mapStore, limit, events),
  )
  await fc.assert(property, { numRuns: 200 })
})

test('on Redis neither', async () => {
  const property = fc.asyncProperty(anyLimit, anyHistory, (limit, events) =>
    play((clock) => redisStore(redis.client, { clock }), limit, events),
  )
  await fc.assert(property, { numRuns: 60 })
})
