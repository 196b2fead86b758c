import { describe, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { compareAndSwapStore } from '@sluice/transactional'
import fc from 'fast-check'
import { memoryStore, redisStore } from '../../index.ts'
import type { Charge, Store, StoreMode } from '../../store.ts'
import { type ManualClock, manualClock } from '../../testing/index.ts'
import { withVerbs } from '../../testing/ledger-verbs.ts'
import { Calendar } from './calendar.ts'
import { calendarWindow } from './calendar-window.ts'
import { TimeZone } from './time-zone.ts'

const DAY = 86_400_000
/** The shortest month, in which clocks go forward. */
const SHORTEST = 28 * DAY - 3_600_000
const LIMIT = 3

const berlin = new TimeZone('Europe/Berlin')
const limits = Array.from({ length: 31 }, (_, i) => {
  const calendar = new Calendar('month', berlin, i + 1, true)
  return calendarWindow.compile({ limit: LIMIT, windowMs: calendar.lengthMs, calendar })
})

const redis = useRedis()
let opened = 0

/** Forgets each key at the earliest moment that is allowed. */
function forgetful(clock: ManualClock): Store {
  const values = new Map<string, { state: Uint8Array; until: number }>()
  return compareAndSwapStore({
    now: clock,
    read: async (keys) =>
      keys.map((key) => {
        const value = values.get(key)
        return value && clock() < value.until ? { state: value.state, version: 0 } : undefined
      }),
    swap: async (changes) => {
      for (const { key, state, ttlMs } of changes) {
        if (state === undefined) values.delete(key)
        else values.set(key, { state, until: clock() + ttlMs })
      }
      return true
    },
  })
}

const places = {
  'in memory': (clock: ManualClock) => memoryStore({ clock }),
  'in a transaction': forgetful,
  'on Redis': (clock: ManualClock) => redisStore(redis.client, { clock }),
}

const NOVEMBER = Date.UTC(2026, 10, 1)

function open(of: (clock: ManualClock) => Store) {
  const clock = manualClock(NOVEMBER)
  const store = of(clock)
  opened += 1
  const keyspace = { name: `month ${opened}`, algorithm: calendarWindow }
  const ledger = withVerbs<StoreMode>(store.open([keyspace], 'moving'))
  const charge = (day: number, cost: number): Charge[] => {
    return [{ key: 'client', limit: limits[day - 1]!, cost }]
  }
  return {
    clock,
    name: keyspace.name,
    close: () => store.close(),
    consume: async (day: number, cost: number) => {
      const { outcomes, admitted } = await ledger.consume(charge(day, cost))
      const { remaining, resetMs, retryAfterMs } = outcomes[0]!
      return { admitted, remaining, resetMs, retryAfterMs }
    },
    settle: async (day: number, delta: number, at: number) => ledger.settle(charge(day, delta), at),
  }
}

interface Step {
  readonly pass: number
  readonly day: number
  readonly cost: number
  /** Gives back what the last admitted request has cost. */
  readonly back: boolean
}

const anySteps = fc.array(
  fc.record({
    pass: fc.constantFrom(0, 1000, DAY, DAY, 2 * DAY, 27 * DAY, 31 * DAY, 62 * DAY, -1000, -DAY),
    day: fc.integer({ min: 1, max: 31 }),
    cost: fc.constantFrom(0, 1, 1, 2, 3),
    back: fc.boolean(),
  }),
  { maxLength: 40 },
)

/** What the store says of each step, and what requests really cost. */
async function send(of: (clock: ManualClock) => Store, steps: readonly Step[]) {
  const limiter = open(of)
  const said: unknown[] = []
  const costs: { at: number; cost: number }[] = []
  for (const { pass, day, cost, back } of steps) {
    limiter.clock.advance(pass)
    const last = costs.at(-1)
    if (back && last !== undefined) {
      await limiter.settle(day, -last.cost, last.at)
      costs.pop()
    }
    const outcome = await limiter.consume(day, cost)
    said.push(outcome)
    if (outcome.admitted && cost > 0) costs.push({ at: limiter.clock(), cost })
  }
  limiter.close()
  return { said, costs }
}

describe.each(Object.entries(places))('an anchor that moves, %s', (_, of) => {
  test('a day further each day: the window that has begun ends when it said, and the next is no shorter', async () => {
    const { clock, consume, close } = open(of)
    let admitted = 0
    for (let day = 1; day <= 30; day += 1) {
      clock.set(NOVEMBER + (day - 1) * DAY)
      for (let i = 0; i < 5; i += 1) {
        if ((await consume(Math.min(day + 1, 30), 1)).admitted) admitted += 1
      }
    }
    expect(admitted).toBe(2 * LIMIT)
    close()
  })

  test('the new anchor counts from the end of the window: up to the end of its first one', async () => {
    const { clock, consume, close } = open(of)
    await consume(10, 3)
    const end = Date.UTC(2026, 10, 9, 23)
    clock.set(end - 1)
    expect(await consume(20, 1)).toMatchObject({ admitted: false, retryAfterMs: 1 })
    clock.set(end)
    const next = Date.UTC(2026, 11, 19, 23)
    expect(await consume(20, 3)).toMatchObject({ admitted: true, resetMs: next - end })
    clock.set(next - 1)
    expect(await consume(20, 1)).toMatchObject({ admitted: false, retryAfterMs: 1 })
    clock.set(next)
    expect(await consume(20, 1)).toMatchObject({ admitted: true, resetMs: 31 * DAY })
    close()
  })

  test('a window that was given back entirely ends when it said too', async () => {
    const { clock, consume, settle, close } = open(of)
    await consume(10, 3)
    const end = Date.UTC(2026, 10, 9, 23)
    clock.set(end)
    for (let i = 0; i < 3; i += 1) {
      const { resetMs } = await consume(20 + i, 1)
      expect(clock() + resetMs).toBe(Date.UTC(2026, 11, 19, 23))
      await settle(20 + i, -1, clock())
      clock.advance(DAY)
    }
    close()
  })
})

test('however it moves, every store says the same, and admits twice the limit in the shortest month at most', async () => {
  const property = fc.asyncProperty(anySteps, async (steps) => {
    const [memory, ...others] = await Promise.all(
      Object.values(places).map((of) => send(of, steps)),
    )
    for (const other of others) expect(other.said).toEqual(memory!.said)
    // A clock that steps back counts on in the window of that time.
    if (steps.some(({ pass }) => pass < 0)) return
    for (const { at: from } of memory!.costs) {
      const span = memory!.costs.filter(({ at }) => at >= from && at < from + SHORTEST)
      expect(span.reduce((sum, { cost }) => sum + cost, 0)).toBeLessThanOrEqual(2 * LIMIT)
    }
  })
  await fc.assert(property, { numRuns: 200 })
})

test('Redis keeps a window that has ended for as long as it matters', async () => {
  const { clock, name, consume } = open(places['on Redis'])
  await consume(10, 1)
  const ttlMs = await redis.client.pttl(`moving:{client}:${name}`)
  expect(ttlMs).toBeGreaterThan(Date.UTC(2026, 10, 9, 23) + 31 * DAY - clock())
})
