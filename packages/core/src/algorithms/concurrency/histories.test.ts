import { expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import fc from 'fast-check'
import { memoryStore, redisStore, type Store } from '../../index.ts'
import { manualClock } from '../../testing/index.ts'
import { withVerbs } from '../../testing/ledger-verbs.ts'
import { mapStore } from '../../testing/map-store.ts'
import { concurrency } from './concurrency.ts'

const START = 1_800_000_000_000
const HOLD = 3000

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
  { weight: 4, arbitrary: fc.record({ pass: fc.constantFrom(1, 999, 1000, 2999, 3000, -500) }) },
  { weight: 1, arbitrary: fc.record({ kill: anyProcess }) },
  { weight: 1, arbitrary: fc.record({ lose: fc.constant('everything' as const) }) },
)

/** The definition: who holds what until when. */
class Model {
  private until = new Map<number, number>()

  /** Slots in use: held no longer than if they had been taken just now. */
  inUse(now: number): number {
    for (const [slot, until] of this.until) {
      if (until <= now) this.until.delete(slot)
      else this.until.set(slot, Math.min(until, now + HOLD))
    }
    return this.until.size
  }

  hold(slot: number, now: number): void {
    this.inUse(now)
    this.until.set(slot, now + HOLD)
  }

  release(slot: number, now: number): void {
    this.inUse(now)
    this.until.delete(slot)
  }

  clear(): void {
    this.until.clear()
  }
}

async function play(storeOn: (clock: () => number) => Store, limit: number, events: Event[]) {
  const clock = manualClock(START)
  const model = new Model()
  const store = storeOn(clock)
  histories += 1
  const keyspace = { name: 'slots', algorithm: concurrency }
  const ledger = withVerbs(store.open({ policies: [keyspace] }, `histories:${histories}`))
  const compiled = concurrency.compile({ limit, windowMs: HOLD })
  const charge = (slot: number, cost = 1) => [{ key: 'ada', limit: compiled, cost, slot }]
  const processes: number[][] = [[], []]
  let last = Number.MAX_SAFE_INTEGER - 300
  for (const event of events) {
    const now = clock()
    if ('pass' in event) clock.advance(event.pass)
    else if ('acquire' in event) {
      last += 1
      const { admitted, outcomes } = await ledger.consume(charge(last))
      const free = limit - model.inUse(now)
      expect([admitted, outcomes[0]?.remaining]).toEqual([free > 0, Math.max(0, free - 1)])
      if (admitted) {
        model.hold(last, now)
        processes[event.acquire]?.push(last)
      }
    } else if ('release' in event) {
      const held = processes[event.release] as number[]
      const [slot] = held.splice(event.which % Math.max(1, held.length), 1)
      if (slot === undefined) continue
      await ledger.settle(charge(slot, -1))
      model.release(slot, now)
    } else if ('renew' in event) {
      const held = processes[event.renew] as number[]
      await ledger.renew(held.map((slot) => charge(slot)))
      for (const slot of held) model.hold(slot, now)
    } else if ('kill' in event) processes[event.kill] = []
    else {
      await ledger.reset('ada')
      model.clear()
    }
  }
  store.close()
}

const anyHistory = fc.array(anyEvent, { minLength: 5, maxLength: 60 })
const anyLimit = fc.integer({ min: 0, max: 5 })

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
