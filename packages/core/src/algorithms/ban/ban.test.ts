import { describe, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { mapStore } from '@sluice/transactional/testing'
import fc from 'fast-check'
import { memoryStore, redisStore } from '../../index.ts'
import type { Charge, Ledger, Store, StoreResult } from '../../store.ts'
import { decideAll, withRefusals } from '../../stores/rules/decide-all.ts'
import { manualClock } from '../../testing/index.ts'
import { type CompiledLimit, KeyState } from '../algorithm.ts'
import { fixedWindow } from '../fixed-window/fixed-window.ts'
import { START, type Trace } from '../testing/trace.ts'
import { ban } from './ban.ts'
import { type BanStep, banTraces } from './traces.ts'

const admitting = fixedWindow.compile({ limit: 1e12, windowMs: 1000 })
const refusing = fixedWindow.compile({ limit: 0, windowMs: 1000 })

const redis = useRedis()
let opened = 0

const clock = manualClock(START)

/** Opens the same policy, with bans of this limit. */
type Open = (limit: CompiledLimit) => Ledger

function open(store: Store): Open {
  opened += 1
  const policies = [{ name: `policy ${opened}`, algorithm: fixedWindow }]
  const name = `ban ${opened}`
  return (limit) => store.open([...policies, { name, algorithm: ban, limit }], 'bans')
}

function batching(openAlone: Open, cost: number): Open {
  return (limit) => inBatches(openAlone(limit), cost)
}

const places = {
  'in memory': () => open(memoryStore({ clock })),
  'in a transaction': () => open(mapStore(clock)),
  'on Redis': () => open(redisStore(redis.client, { clock })),
  'on Redis, in a batch of one cost': () => batching(open(redisStore(redis.client, { clock })), 1),
  'on Redis, in a batch': () => batching(open(redisStore(redis.client, { clock })), 2),
}

/** The ledger, with another request of that cost in each of its calls. */
function inBatches(ledger: Ledger, cost: number): Ledger {
  return {
    ...ledger,
    async decide([charges]: readonly [readonly Charge[]]) {
      const others = charges.map((charge) => ({ ...charge, key: 'other', cost }))
      return (await ledger.decide([others, charges])).slice(1)
    },
  } as Ledger
}

async function replay(openWith: Open, { params, steps }: Trace<BanStep>) {
  const usual = ban.compile(params)
  const said = []
  for (const { at, refused, bansMs } of steps) {
    clock.set(START + at)
    const limit = bansMs === undefined ? usual : ban.compile({ ...params, bansMs })
    const ledger = openWith(limit)
    const charge = { key: 'a', limit: refused ? refusing : admitting, cost: 1 }
    const request = withRefusals([charge], limit)
    const [result] = (await ledger.decide([request])) as [StoreResult]
    const { admitted, remaining, resetMs, retryAfterMs } = result.outcomes[1]!
    expect(result.admitted).toBe(admitted && !refused)
    said.push({ admitted, remaining, resetMs, retryAfterMs })
  }
  return said
}

describe.each(Object.entries(places))('a ban %s follows the traces', (_, place) => {
  test.each(banTraces)('$name', async (trace) => {
    expect(await replay(place(), trace)).toEqual(trace.steps.map(({ expect }) => expect))
  })
})

/** ms from the request before, and whether a policy refuses it. */
const anyTraffic = fc.array(
  fc.record({
    pause: fc.constantFrom(0, 0, 1, 10, 49, 50, 99, 100, 101, 300),
    refused: fc.boolean(),
  }),
  { maxLength: 60 },
)
const anyParams = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  windowMs: fc.constantFrom(1, 50, 100, 250),
  bansMs: fc.array(fc.constantFrom(1, 50, 100, 400), { minLength: 1, maxLength: 3 }),
})

interface Traffic {
  readonly pause: number
  readonly refused: boolean
  /** The durations of bans where they differ from the usual list, ms. */
  readonly bansMs?: readonly number[]
}

/** What the ban says of the traffic: the times of the refusals that it counted, and of its bans. */
function send(params: Trace<BanStep>['params'], traffic: readonly Traffic[]) {
  const state = new KeyState()
  const counted: number[] = []
  const bans: { from: number; until: number }[] = []
  let now = START
  for (const { pause, refused, bansMs = params.bansMs } of traffic) {
    now += pause
    const limit = ban.compile({ ...params, bansMs })
    const charge = { key: 'a', limit: refused ? refusing : admitting, cost: 1 }
    decideAll([new KeyState(), state], withRefusals([charge], limit), now)
    const { admitted, retryAfterMs } = state
    const isBanned = bans.some(({ until }) => now < until)
    if (refused && !isBanned) counted.push(now)
    if (!admitted && !isBanned) bans.push({ from: now, until: now + retryAfterMs })
    // It ends when it said, whatever came meanwhile.
    expect(admitted).toBe(!bans.some(({ until }) => now < until))
    if (!admitted) expect(now + retryAfterMs).toBe(bans.at(-1)?.until)
  }
  return { counted, bans }
}

describe('a ban, whatever the traffic', () => {
  test('begins with a refusal, the last of so many within the window', () => {
    const property = fc.property(anyParams, anyTraffic, (params, traffic) => {
      const { counted, bans } = send(params, traffic)
      bans.forEach(({ from }, i) => {
        const earlier = bans[i - 1]?.until ?? 0
        const recent = counted.filter(
          (at) => at >= earlier && at <= from && at > from - params.windowMs,
        )
        expect(recent.length).toBeGreaterThanOrEqual(params.limit)
      })
    })
    fc.assert(property, { numRuns: 500 })
  })

  test('ends when it said, however the list changes', () => {
    const anyLists = fc.array(fc.tuple(anyTraffic, anyParams), { maxLength: 5 })
    const property = fc.property(anyParams, anyLists, (params, parts) => {
      const traffic = parts.flatMap(([part, { bansMs }]) => {
        return part.map((each) => ({ ...each, bansMs }))
      })
      send(params, traffic)
    })
    fc.assert(property, { numRuns: 500 })
  })

  test('has begun after 2·after − 1 refusals within the window', () => {
    const property = fc.property(anyParams, anyTraffic, (params, traffic) => {
      const { counted, bans } = send(params, traffic)
      for (const at of counted) {
        const span = counted.filter((each) => each > at - params.windowMs && each <= at)
        if (span.length < 2 * params.limit - 1) continue
        expect(bans.some(({ from }) => from > at - params.windowMs && from <= at)).toBe(true)
      }
    })
    fc.assert(property, { numRuns: 500 })
  })

  test('lasts as long as the list says, and is forgotten after a window without a refusal', () => {
    const property = fc.property(anyParams, anyTraffic, (params, traffic) => {
      const { counted, bans } = send(params, traffic)
      let place = 0
      bans.forEach(({ from, until }, i) => {
        const before = bans[i - 1]?.until ?? 0
        const ends = [before, ...counted.filter((at) => at >= before && at <= from)]
        const isForgotten = ends.some((at, j) => (ends[j + 1] ?? from) - at >= params.windowMs)
        place = isForgotten ? 0 : Math.min(place + 1, params.bansMs.length - 1)
        expect(until - from).toBe(params.bansMs[place])
      })
    })
    fc.assert(property, { numRuns: 500 })
  })
})
