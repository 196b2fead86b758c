import { describe, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { mapStore } from '@sluice/transactional/testing'
import fc from 'fast-check'
import {
  type Charge,
  type InspectableStore,
  memoryStore,
  redisStore,
  type Store,
} from '../../index.ts'
import { type ManualClock, manualClock } from '../../testing/index.ts'
import { type LedgerVerbs, withVerbs } from '../../testing/ledger-verbs.ts'
import type { Algorithm, Claim } from '../algorithm.ts'
import { Calendar } from '../calendar-window/calendar.ts'
import { calendarWindow } from '../calendar-window/calendar-window.ts'
import { TimeZone } from '../calendar-window/time-zone.ts'
import { fixedWindow } from '../fixed-window/fixed-window.ts'
import { ending } from '../held/claim.ts'
import { slidingWindow } from '../sliding-window/sliding-window.ts'
import { tokenBucket } from '../token-bucket/token-bucket.ts'
import { reserved } from './reserved.ts'

const HOLD = 3000
const WINDOW = 10_000
const START = 1_800_000_000_000

const calendar = new Calendar('day', new TimeZone('UTC'), 1, false)
const inners: readonly [string, Algorithm, object][] = [
  ['fixed window', fixedWindow, { windowMs: WINDOW }],
  ['window of the calendar', calendarWindow, { windowMs: 86_400_000, calendar }],
  ['sliding window', slidingWindow, { windowMs: WINDOW }],
  ['token bucket', tokenBucket, { windowMs: WINDOW }],
  ['sliding window in ticks', slidingWindow, { windowMs: 10 ** 10, scale: 10 ** 9 }],
]

const redis = useRedis()
let runs = 0

/** What happens to a key; `which` chooses among the reservations that there were. */
type Step =
  | { readonly pass: number }
  | { readonly reserve: number; readonly beside?: boolean }
  | { readonly settle: number; readonly which: number }
  | { readonly correct: number; readonly ago: number }
  | { readonly renew: readonly number[] }

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ pass: fc.constantFrom(0, 1, 500, 1499, 2999, 3000, -700, 9000) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ reserve: fc.constantFrom(0, 1, 2, 5, 9), beside: fc.boolean() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ settle: fc.constantFrom(0, 1, 3, 5, 12), which: fc.nat(9) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ correct: fc.integer({ min: -4, max: 4 }), ago: fc.nat(4000) }),
  },
  { weight: 3, arbitrary: fc.record({ renew: fc.array(fc.nat(9), { maxLength: 4 }) }) },
)

/** @param units what the reservation was charged that a settlement ends */
function claimOf(slot: number | undefined, units: number | undefined): Claim | undefined {
  if (slot === undefined) return undefined
  return units === undefined ? [slot] : ending([slot], units)
}

/** What a store says, step by step. */
async function play(
  store: Store,
  clock: ManualClock,
  inner: Algorithm,
  params: object,
  steps: readonly Step[],
) {
  const { scale = 1, ...terms } = params as { scale?: number; windowMs: number }
  const algorithm = reserved(inner)
  const limit = algorithm.compile({ limit: 20 * scale, holdMs: HOLD, ...terms })
  const other = fixedWindow.compile({ limit: 15, windowMs: WINDOW })
  const spaces = [
    { name: 'one', algorithm },
    { name: 'two', algorithm: fixedWindow },
  ]
  const ledgers: LedgerVerbs[] = [spaces.slice(0, 1), spaces].map((policies) =>
    withVerbs(store.open(policies, `reserved-${runs}-${policies.length}`)),
  )
  runs += 1
  const [alone, beside] = ledgers as [LedgerVerbs, LedgerVerbs]
  const charge = (cost: number, slot?: number, units?: number): Charge => {
    return { key: 'ada', limit, cost, claim: claimOf(slot, units) }
  }
  const made: { ledger: LedgerVerbs; slot: number; units: number }[] = []
  const said: unknown[] = []
  const raised = (raise: object) => void said.push({ ...raise })
  let last = 0
  for (const step of steps) {
    if ('pass' in step) clock.advance(step.pass)
    else if ('reserve' in step) {
      last += 1
      const isBeside = step.beside === true
      const ledger = isBeside ? beside : alone
      const own = charge(step.reserve * scale, last)
      const charges = isBeside ? [own, { key: 'ada', limit: other, cost: 1 }] : [own]
      const { admitted, outcomes } = await ledger.consume(charges)
      said.push({ admitted, outcomes: outcomes.map(shown) })
      if (admitted && step.reserve > 0)
        made.push({ ledger, slot: last, units: step.reserve * scale })
    } else if ('settle' in step) {
      const found = made[step.which % Math.max(1, made.length)]
      if (found === undefined) continue
      const { ledger, slot, units } = found
      const own = charge(step.settle * scale - units, slot, units)
      const charges = ledger === beside ? [own, { key: 'ada', limit: other, cost: 0 }] : [own]
      await ledger.settle(charges, undefined, 'store', raised)
    } else if ('renew' in step) {
      const renewed = step.renew.flatMap((which) => made[which % Math.max(1, made.length)] ?? [])
      const requests = renewed.filter(({ ledger }) => ledger === alone)
      if (requests.length > 0)
        await alone.renew(requests.map(({ slot, units }) => [charge(units, slot)]))
    } else {
      await alone.settle([charge(step.correct * scale)], clock() - step.ago, 'store', raised)
    }
    for (const ledger of ledgers) {
      const charges =
        ledger === beside ? [charge(0), { key: 'ada', limit: other, cost: 0 }] : [charge(0)]
      said.push((await ledger.peek(charges)).outcomes.map(shown))
    }
  }
  return said
}

function shown({ admitted, remaining, resetMs, retryAfterMs, effectiveMs }: Outcomes) {
  return { admitted, remaining, resetMs, retryAfterMs, effectiveMs }
}
type Outcomes = Awaited<ReturnType<LedgerVerbs['peek']>>['outcomes'][number]

describe.each(inners)('reservations in a %s', (_, inner, params) => {
  test('are the same in memory, on Redis and in transactions, also on a clock that steps', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 25 }), async (steps) => {
        const of = (create: (clock: ManualClock) => Store) => {
          const clock = manualClock(START)
          return play(create(clock), clock, inner, params, steps)
        }
        const expected = await of(mapStore)
        expect(await of((clock) => redisStore(redis.client, { clock }))).toEqual(expected)
        // Memory forgets a state that is full: a clock that then steps back does not find it any more.
        if (!steps.some((step) => 'pass' in step && step.pass < 0))
          expect(await of((clock) => memoryStore({ clock }))).toEqual(expected)
      }),
      { numRuns: 120 },
    )
  })
})

test('every key of Redis has a time to live', async () => {
  for (const key of await redis.client.keys('*'))
    expect(await redis.client.pttl(key)).toBeGreaterThan(0)
})

describe.each<[string, (clock: ManualClock) => Store]>([
  ['memory', (clock) => memoryStore({ clock })],
  ['Redis', (clock) => redisStore(redis.client, { clock })],
  ['transactions', mapStore],
])('in %s', (_, create) => {
  const algorithm = reserved(fixedWindow)
  const limit = algorithm.compile({ limit: 10 ** 9, windowMs: 86_400_000, holdMs: HOLD })

  function open() {
    const clock = manualClock(START)
    runs += 1
    const keyspace = { name: 'one', algorithm }
    const ledger = withVerbs(create(clock).open([keyspace], `full-${runs}`))
    const charge = (cost: number, slot?: number, units?: number) => [
      { key: 'ada', limit, cost, claim: claimOf(slot, units) },
    ]
    const used = async () => 10 ** 9 - ((await ledger.peek(charge(0))).outcomes[0]?.remaining ?? 0)
    return { clock, ledger, charge, used }
  }

  test('inspect lists the key with what it has used, without what has expired', async () => {
    const clock = manualClock(START)
    runs += 1
    const store = create(clock) as InspectableStore
    if (store.inspect === undefined) return
    const params = { limit: 100, windowMs: WINDOW }
    const space = { name: `reserved-fixed-window:${WINDOW}:plan`, algorithm, params }
    const prefix = `inspect-${runs}`
    const ledger = withVerbs(store.open([space], prefix))
    const own = algorithm.compile({ ...params, holdMs: HOLD })
    await ledger.consume([{ key: 'ada', limit: own, cost: 5, claim: [1] }])
    await ledger.consume([{ key: 'ada', limit: own, cost: 7 }])
    const listed = async () => {
      const found: object[] = []
      for await (const { policy, key, used, limit: most } of store.inspect({ prefix }))
        found.push({ policy, key, used, limit: most })
      return found
    }
    expect(await listed()).toEqual([{ policy: 'plan', key: 'ada', used: 12, limit: 100 }])
    clock.advance(HOLD)
    expect(await listed()).toEqual([{ policy: 'plan', key: 'ada', used: 7, limit: 100 }])
  })

  test('a key has a thousand reservations at most; then it is refused for a second', async () => {
    const { clock, ledger, charge, used } = open()
    for (let slot = 1; slot <= 1000; slot += 1) await ledger.consume(charge(2, slot))
    expect((await ledger.consume(charge(2, 1001))).outcomes[0]).toMatchObject({
      admitted: false,
      remaining: 0,
      retryAfterMs: 1000,
    })
    await ledger.settle(charge(-1, 500, 2))
    expect((await ledger.consume(charge(2, 1002))).admitted).toBe(true)
    clock.advance(HOLD)
    expect(await used()).toBe(1)
    expect((await ledger.consume(charge(2, 1003))).admitted).toBe(true)
  })

  test('a refusal on a clock that has stepped back keeps that a reservation ends `hold` after it', async () => {
    const { clock, ledger, charge } = open()
    const admits = async (cost: number) => (await ledger.consume(charge(cost))).admitted
    expect((await ledger.consume(charge(10 ** 9, 1))).admitted).toBe(true)
    clock.advance(1 - HOLD)
    expect(await admits(1)).toBe(false)
    clock.advance(HOLD - 1)
    expect(await admits(1)).toBe(false)
    clock.advance(1)
    expect(await admits(10 ** 9)).toBe(true)
  })

  test('an admission, too, keeps it', async () => {
    const { clock, ledger, charge, used } = open()
    await ledger.consume(charge(5, 1))
    clock.advance(1 - HOLD)
    await ledger.consume(charge(1))
    clock.advance(HOLD - 1)
    expect(await used()).toBe(6)
    clock.advance(1)
    expect(await used()).toBe(1)
  })

  test('a refusal keeps what has come back, of which a call gives a thousand back at most', async () => {
    const { clock, ledger, charge } = open()
    for (let slot = 1; slot <= 1500; slot += 1) {
      const owner = slot > 1000 ? 2 : 1
      await ledger.consume([{ key: 'ada', limit, cost: 1, claim: [slot, owner] }])
    }
    clock.advance(HOLD)
    const admits = async () => (await ledger.consume(charge(10 ** 9))).admitted
    expect([await admits(), await admits()]).toEqual([false, true])
  })

  test('of a shared key, nobody has more than are free, so that nobody shuts others out', async () => {
    const { clock, ledger, charge, used } = open()
    let last = 0
    const reserve = async (owner: number) => {
      last += 1
      const { admitted } = await ledger.consume([
        { key: 'ada', limit, cost: 1, claim: [last, owner] },
      ])
      return admitted
    }
    /** How many an owner gets until it is refused. */
    const most = async (owner: number) => {
      for (let count = 0; ; count += 1) if (!(await reserve(owner))) return count
    }
    expect([await most(1), await most(2), await most(3)]).toEqual([1000, 500, 250])
    // What one gives back is free for all.
    await ledger.settle(charge(-1, 1, 1))
    expect([await reserve(4), await reserve(1), await reserve(3)]).toEqual([true, false, false])
    clock.advance(HOLD)
    // A call gives a thousand back at most.
    expect(await used()).toBe(750)
    expect([await reserve(1), await used()]).toEqual([true, 1])
    expect(await most(0)).toBe(1000)
  })

  test('what is charged is what was settled, and what is held: never less', async () => {
    const anyMove = fc.record({
      ms: fc.constantFrom(0, 0, 100, 999, 1000),
      what: fc.constantFrom('reserve', 'reserve', 'settle', 'renew', 'forget'),
      which: fc.nat(20),
      units: fc.integer({ min: 1, max: 9 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(anyMove, { maxLength: 40 }), async (moves) => {
        const { clock, ledger, charge, used } = open()
        /** The reservations that are neither settled nor forgotten, and until when each is held. */
        const held = new Map<number, { units: number; until: number }>()
        const forgotten: { units: number; until: number }[] = []
        let settled = 0
        let last = 0
        for (const { ms, what, which, units } of moves) {
          clock.advance(ms)
          const now = clock()
          const [slot, found] = [...held][which % Math.max(1, held.size)] ?? []
          if (what === 'reserve') {
            last += 1
            await ledger.consume(charge(units, last))
            held.set(last, { units, until: now + HOLD })
          } else if (slot !== undefined && found !== undefined) {
            if (what === 'settle') {
              await ledger.settle(charge(units - found.units, slot, found.units))
              settled += units
            }
            if (what === 'renew') {
              await ledger.renew([charge(found.units, slot)])
              if (found.until > now) found.until = now + HOLD
            } else held.delete(slot)
            if (what === 'forget') forgotten.push(found)
          }
          const open = [...held.values(), ...forgotten].filter(({ until }) => until > now)
          expect(await used()).toBe(open.reduce((sum, { units: each }) => sum + each, settled))
        }
      }),
      { numRuns: 60 },
    )
  })
})
