// Faults of processes that hold slots (`concurrent`), and of their Redis.

import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { redisStore } from '@sluice/core'
import { describeUnless } from '@sluice/test-harness/jest'
import {
  type RedisServer,
  type StartOptions,
  startProxy,
  startRedis,
  until,
  whyNoClock,
} from '@sluice/test-harness/redis'
import { withVerbs } from '@sluice/test-suites'
import { Redis } from 'ioredis'
import { concurrency } from '../../../core/src/algorithms/concurrency/concurrency.ts'
import { measured, measuredCases, noteSlots } from './figures.ts'
import { admitted, type Holder, Holders, type Terms } from './holder.ts'

const SLOTS = 5
/** Long enough that a busy machine misses no renewal. */
const HOLD = 1500
/** Long enough for a restart in between. */
const LONG = { hold: 3 * HOLD }

let redis: RedisServer
let client: Redis
const holders = new Holders()

async function begin(options?: StartOptions): Promise<void> {
  redis = await startRedis(options)
  client = new Redis(redis.url, { disconnectTimeout: 0 })
  client.on('error', () => {})
}
afterEach(async () => {
  holders.rest()
  client.disconnect()
  await redis.stop()
})
afterAll(() => holders.stop())

/** Starts a holder that admits nothing without Redis, unless the test says so. */
function start(terms: Partial<Terms> = {}): Promise<Holder> {
  const base = { url: redis.url, concurrent: SLOTS, hold: HOLD, onStoreError: 'deny' } as const
  return holders.start({ ...base, ...terms })
}

/** Slots in use, as Redis counts them: seen with a limit that they can't reach. */
async function counted(hold = HOLD): Promise<number> {
  const space = { name: 'concurrency:0:default', algorithm: concurrency }
  const limit = concurrency.compile({ limit: 1000, windowMs: hold })
  const ledger = withVerbs(redisStore(client).open([space], 'sluice'))
  const { outcomes } = await ledger.peek([{ key: 'client', limit, cost: 0 }])
  return 1000 - (outcomes[0]?.remaining as number)
}

async function untilCounted(slots: number): Promise<number> {
  const startedAt = performance.now()
  const what = `${slots} slots are counted`
  await until(async () => (await counted()) >= slots, { what })
  return performance.now() - startedAt
}

async function takeAll(holder: Holder): Promise<void> {
  expect(await takenOf(SLOTS, holder)).toBe(SLOTS)
}

/**
 * How many of so many requests are admitted, if Redis decides all of them. During a stall of Redis
 * it does not, and may take slots for nobody: then they are asked again once those are free.
 */
async function takenOf(count: number, holder: Holder): Promise<number> {
  const ask = async () => {
    const answers = await holder.acquire(count)
    const taken = admitted(answers)
    if (answers.every(({ source }) => source === 'store')) return { taken }
    await holder.release(taken)
    await delay(holder.hold)
    return undefined
  }
  const answered = await until(ask, { what: `Redis decides ${count} requests` })
  return answered?.taken as number
}

/** Waits until none of them waits for Redis any more. Their looks leave nothing behind. */
async function untilGivenUp(...processes: readonly Holder[]): Promise<void> {
  const giveUp = async (each: Holder) => {
    for (let failures = 0; failures < 6; failures += 1) await each.untilDecidedBy('deny')
  }
  await Promise.all(processes.map(giveUp))
}

/**
 * Waits until Redis counts what the holder has had all the time, which gets no requests meanwhile. The
 * other process takes as much as it can.
 * @returns how long that took, ms
 */
async function untilRenewed(holder: Holder, other: Holder): Promise<number> {
  const startedAt = performance.now()
  const what = 'Redis counts all that is in progress, and the other process asks it again'
  const isExact = async () => {
    const [answer] = await other.acquire(SLOTS)
    return answer?.source === 'store' && (await counted(holder.hold)) >= holder.held + other.held
  }
  await until(isExact, { what })
  return performance.now() - startedAt
}

/**
 * What is in progress is renewed, and nothing else: so Redis counts it once `hold` has passed.
 * While it is as much as there are slots, or more, none is admitted; then as many as are free.
 */
async function expectExact(holder: Holder, other: Holder): Promise<void> {
  const { at } = await other.peek()
  const hasPassed = async () => (await other.peek()).at > at + holder.hold
  await until(hasPassed, { everyMs: 100, what: 'hold has passed' })
  expect(await counted(holder.hold)).toBe(holder.held + other.held)
  while (holder.held + other.held >= SLOTS) {
    expect(admitted(await other.acquire(2))).toBe(0)
    await (holder.held > 0 ? holder : other).release(1)
  }
  expect(await takenOf(2, other)).toBe(1)
}

describe('a process', () => {
  beforeEach(() => begin())

  test('is killed with kill -9: its slots are free once hold has passed, and no more than those', async () => {
    const [dying, other] = await Promise.all([start(), start()])
    await takeAll(dying)
    expect(admitted(await other.acquire())).toBe(0)
    await dying.kill()
    const killedAt = performance.now()
    const { at, resetMs } = await other.peek()
    expect(resetMs).toBeLessThanOrEqual(HOLD)
    const first = await other.untilAdmitted()
    const exactMs = performance.now() - killedAt
    // On the clock of Redis.
    expect(first.at).toBeGreaterThanOrEqual(at + resetMs)
    expect(await takenOf(SLOTS, other)).toBe(SLOTS - 1)
    expect(holders.most).toBe(SLOTS)
    noteSlots({
      row: 1,
      fault: 'a process is killed (`kill -9`)',
      most: SLOTS,
      bound: SLOTS,
      exactMs,
    })
  })

  measured(
    'is frozen for longer than hold: what it holds counts again when it goes on',
    async () => {
      const [frozen, other] = await Promise.all([start(), start()])
      await takeAll(frozen)
      frozen.freeze()
      await other.untilAdmitted()
      expect(await takenOf(SLOTS - 1, other)).toBe(SLOTS - 1)
      frozen.resume()
      const exactMs = await untilCounted(2 * SLOTS)
      await expectExact(frozen, other)
      expect(holders.most).toBe(2 * SLOTS)
      noteSlots({
        row: 2,
        fault: 'a process is frozen for longer than `hold`, then continues',
        most: holders.most,
        bound: 2 * SLOTS,
        exactMs,
      })
    },
  )

  measured(
    'loses its connection after Redis has admitted: nobody has those slots, until they are free',
    async () => {
      const proxy = await startProxy(redis)
      const [cut, other] = await Promise.all([start({ url: proxy.url }), start()])
      // A server that does not have the script yet would say so, instead of admitting.
      await other.acquire(1)
      await other.release(1)
      proxy.loseReplies()
      const [answer] = await cut.acquire(SLOTS)
      expect(answer).toMatchObject({ allowed: false, source: 'deny' })
      proxy.loseReplies(false)
      proxy.cut()
      const cutAt = performance.now()
      expect(await counted()).toBe(SLOTS)
      const { at, resetMs } = await other.peek()
      expect(resetMs).toBeLessThanOrEqual(HOLD)
      const first = await other.untilAdmitted()
      const exactMs = performance.now() - cutAt
      expect(first.at).toBeGreaterThanOrEqual(at + resetMs)
      expect(await takenOf(SLOTS, other)).toBe(SLOTS - 1)
      expect(holders.most).toBe(SLOTS)
      await proxy.stop()
      noteSlots({
        row: 3,
        fault: 'a connection is reset while acquiring',
        most: SLOTS,
        bound: SLOTS,
        exactMs,
      })
    },
  )
})

describe('Redis', () => {
  beforeEach(() => begin())

  test.each([
    ['without its data', false, 2 * SLOTS] as const,
    ...measuredCases(['with its data, within `hold`', true, SLOTS] as const),
  ])('is killed, and comes back %s', async (how, keepData, bound) => {
    const [holder, other] = await Promise.all([start(LONG), start(LONG)])
    await takeAll(holder)
    if (keepData) await redis.command('SAVE')
    await redis.kill()
    await untilGivenUp(holder, other)
    await redis.restart({ keepData })
    const exactMs = await untilRenewed(holder, other)
    await expectExact(holder, other)
    noteSlots({ row: 4, fault: `Redis is killed, back ${how}`, most: holders.most, bound, exactMs })
  })

  measured('is frozen for longer than hold', async () => {
    const [holder, other] = await Promise.all([start(), start()])
    await takeAll(holder)
    redis.pause()
    await Promise.all([untilGivenUp(holder, other), delay(HOLD + 1)])
    redis.resume()
    const exactMs = await untilRenewed(holder, other)
    await expectExact(holder, other)
    noteSlots({
      row: 5,
      fault: 'Redis is frozen for longer than `hold`',
      most: holders.most,
      bound: 2 * SLOTS,
      exactMs,
    })
  })

  test("is absent, onStoreError: 'local': each process admits its share less what it holds", async () => {
    const local = { onStoreError: 'local', localShare: 0.6 } as const
    const [holder, other] = await Promise.all([start(local), start(local)])
    expect(admitted(await holder.acquire(SLOTS - 1))).toBe(SLOTS - 1)
    expect(admitted(await other.acquire())).toBe(1)
    await redis.kill()
    await Promise.all([holder, other].map((each) => each.untilDecidedBy('local')))
    expect(admitted(await holder.acquire(SLOTS))).toBe(0)
    const share = 3
    expect(admitted(await other.acquire(SLOTS))).toBe(share - 1)
    await redis.restart()
    const exactMs = await untilCounted(SLOTS + share - 1)
    await Promise.all([holder, other].map((each) => each.untilDecidedBy('store')))
    await expectExact(holder, other)
    noteSlots({
      row: 6,
      fault: "Redis is absent, `onStoreError: 'local'`, a share of 3",
      most: holders.most,
      bound: SLOTS + share - 1,
      exactMs,
    })
  })
})

describeUnless(whyNoClock(), 'the clock of Redis', () => {
  beforeEach(() => begin({ clockOffsetMs: 0 }))

  measured('steps forward by more than hold', async () => {
    const [holder, other] = await Promise.all([start(), start()])
    await takeAll(holder)
    await redis.setClock(3_600_000)
    const exactMs = await untilRenewed(holder, other)
    await expectExact(holder, other)
    noteSlots({
      row: 7,
      fault: 'the clock of Redis steps forward by an hour',
      most: holders.most,
      bound: 2 * SLOTS,
      exactMs,
    })
  })

  measured('steps back: what nobody renews is free after hold', async () => {
    const [dying, other] = await Promise.all([start(), start()])
    await takeAll(dying)
    await dying.kill()
    const killedAt = performance.now()
    await redis.setClock(-3_600_000)
    expect((await other.peek()).resetMs).toBeLessThanOrEqual(HOLD)
    await other.untilAdmitted()
    const exactMs = performance.now() - killedAt
    expect(await takenOf(SLOTS, other)).toBe(SLOTS - 1)
    noteSlots({
      row: 8,
      fault: 'the clock of Redis steps back by an hour, then `kill -9`',
      most: holders.most,
      bound: SLOTS,
      exactMs,
    })
  })
})
