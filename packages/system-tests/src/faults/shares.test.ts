// Requests with keys in several slots of a cluster, of which a part is slow, frozen, or has another
// time: each share is decided by its own part, and the limits hold.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createLimiter, type StoreResult } from '@sluice/core'
import { describeUnless } from '@sluice/test-harness/jest'
import {
  hashSlotOf,
  patient,
  type RedisCluster,
  type RedisProxy,
  startCluster,
  startProxy,
  until,
  whyNoClock,
} from '@sluice/test-harness/redis'
import type { LedgerVerbs } from '@sluice/test-suites'
import { Cluster } from 'ioredis'
import type { CompiledLimit } from '../../../core/src/algorithms/algorithm.ts'
import { algorithms } from '../../../core/src/algorithms/index.ts'
import type { StoreLimiter } from '../../../core/src/limiter/store-limiter.ts'
import { guarded } from '../../../core/src/stores/redis/testing/guarded.ts'
import type { FailureMode } from '../../../core/src/stores/resilient/guarded-ledger.ts'
import { LIMIT } from './load.ts'
import './warning-codes.ts'

const HOUR = 3_600_000
const perHour = (limit: number) => algorithms['fixed-window'].compile({ limit, windowMs: HOUR })
/** No edge of a window gives anything back. */
const inAnyHour = (limit: number) => algorithms['sliding-log'].compile({ limit, windowMs: HOUR })
const limits = [inAnyHour(LIMIT), inAnyHour(10 ** 6)] as const
const ask = (address: string, user: string, of: readonly CompiledLimit[] = limits) =>
  [address, user].map((key, i) => ({ key, limit: of[i] as CompiledLimit, cost: 1 }))

let cluster: RedisCluster
let client: Cluster

/** The first of `name 0`, `name 1`, … whose keys are at that master. */
async function keyAt(master: number, name: string): Promise<string> {
  for (let i = 0; ; i += 1) {
    const slot = await hashSlotOf(cluster, `{${name}${i}}`)
    if (Math.floor((slot * 3) / 16_384) === master) return `${name}${i}`
  }
}

async function left(ledger: LedgerVerbs, charges: ReturnType<typeof ask>): Promise<number[]> {
  const free = charges.map((charge) => ({ ...charge, cost: 0 }))
  return (await ledger.peek(free)).outcomes.map(({ remaining }) => remaining)
}

const sources = (results: readonly StoreResult[]) => new Set(results.map(({ source }) => source))
const admitted = (results: readonly StoreResult[]) => results.filter((each) => each.admitted).length

describe('with a node behind a slow line', () => {
  let proxy: RedisProxy
  let address: string
  let user: string
  beforeAll(async () => {
    cluster = await startCluster()
    const [, slow] = cluster.masters
    proxy = await startProxy(slow!)
    client = new Cluster(
      cluster.nodes.map(({ host, port }) => ({ host, port })),
      { natMap: { [`${slow!.host}:${slow!.port}`]: { host: proxy.host, port: proxy.port } } },
    )
    address = await keyAt(0, 'address')
    user = await keyAt(1, 'user')
  })
  beforeEach(() => proxy.latency(0))
  afterAll(async () => {
    client.disconnect()
    await proxy.stop()
    await cluster.stop()
  })

  /** A ledger whose address has used up its quota; the slow node has been asked already. */
  async function usedUp(
    prefix: string,
    failureMode: Partial<FailureMode>,
  ): Promise<LedgerVerbs<'async'>> {
    const unhurried = guarded(client, limits, prefix)
    await Promise.all(Array.from({ length: LIMIT }, () => unhurried.consume(ask(address, user))))
    return guarded(client, limits, prefix, { failureMode: { deadlineMs: 400, ...failureMode } })
  }

  test.each([
    ['local', 240],
    ['allow', 240],
    ['allow', 1000],
  ] as const)(
    'a refusal is not lost because another slot is late: %s, %i ms',
    async (onStoreError, latencyMs) => {
      const prefix = `late-${onStoreError}-${latencyMs}`
      const ledger = await usedUp(prefix, { onStoreError })
      proxy.latency(latencyMs)
      const results = []
      for (let i = 0; i < 4; i += 1) {
        const some = Array.from({ length: 10 }, () => ledger.consume(ask(address, user)))
        results.push(...(await Promise.all(some)))
      }
      expect(admitted(results)).toBe(0)
      expect(sources(results)).toEqual(new Set(['store']))
      proxy.latency(0)
      const back = async () => {
        const [, remaining] = await left(guarded(client, limits, prefix), ask(address, user))
        return remaining === 10 ** 6 - LIMIT
      }
      await until(back, { what: 'all is given back, late grants too' })
    },
    30_000,
  )

  test('a refusal shows the other policies as they are, without the charge', async () => {
    const ledger = await usedUp('shown', { deadlineMs: 60_000 })
    const { outcomes } = await ledger.consume(ask(address, user))
    expect(outcomes.map(({ remaining }) => remaining)).toEqual([0, 10 ** 6 - LIMIT])
  })
})

describe('with a frozen node', () => {
  beforeEach(async () => {
    cluster = await startCluster({ args: ['--cluster-require-full-coverage', 'no'] })
    client = new Cluster(cluster.nodes.map(({ host, port }) => ({ host, port })))
  })
  afterEach(async () => {
    client.disconnect()
    await cluster.stop()
  })

  test('a request waits only for parts that work, and each share is decided separately', async () => {
    const [well, other, frozen] = await Promise.all([
      keyAt(0, 'well'),
      keyAt(1, 'other'),
      keyAt(2, 'frozen'),
    ])
    // A stall that takes longer would be an outage of the other parts too.
    const failureMode = { deadlineMs: 1500 }
    const ledgers = (['local', 'allow', 'deny'] as const).map((onStoreError) =>
      guarded(client, limits, onStoreError, { failureMode: { ...failureMode, onStoreError } }),
    ) as [LedgerVerbs<'async'>, LedgerVerbs<'async'>, LedgerVerbs<'async'>]
    const [local, allow, deny] = ledgers
    await Promise.all(ledgers.map((ledger) => ledger.consume(ask(well, frozen))))
    cluster.masters[2]!.pause()
    const untilOpen = async (ledger: LedgerVerbs) => {
      const open = async () => {
        const startedAt = performance.now()
        const { source } = await ledger.consume(ask(frozen, frozen))
        return source !== 'store' && performance.now() - startedAt < 100
      }
      await until(open, { what: 'the breaker is open' })
    }
    await Promise.all(ledgers.map(untilOpen))
    const results = []
    const startedAt = performance.now()
    for (let i = 0; i < 50; i += 1) results.push(await local.consume(ask(well, frozen)))
    // Not one deadline, though each request asks about a frozen part.
    expect(performance.now() - startedAt).toBeLessThan(1500 * 50)
    expect(admitted(results)).toBe(LIMIT - 1)
    expect(sources(results.slice(0, LIMIT - 1))).toEqual(new Set(['local']))
    // The address is counted, and refused, by its own master.
    expect(sources(results.slice(LIMIT - 1))).toEqual(new Set(['store']))

    const allowed = []
    for (let i = 0; i < 50; i += 1) allowed.push(await allow.consume(ask(well, frozen)))
    expect(admitted(allowed)).toBe(LIMIT - 1)
    expect(allowed[0]?.outcomes.map(({ remaining }) => remaining)).toEqual([LIMIT - 2, 10 ** 6])

    const denied = await deny.consume(ask(well, frozen))
    expect(denied).toMatchObject({ admitted: false, source: 'deny', outcomes: [] })
    const back = async () => (await left(deny, ask(well, other)))[0] === LIMIT - 1
    await until(back, { what: 'what the address granted is given back' })
    expect(await deny.consume(ask(well, other))).toMatchObject({ admitted: true, source: 'store' })
    cluster.masters[2]!.resume()
  })
})

describeUnless(whyNoClock(), 'with clocks that differ', () => {
  beforeAll(async () => {
    cluster = await startCluster({ clockOffsetMs: 0 })
    client = new Cluster(cluster.nodes.map(({ host, port }) => ({ host, port })))
  })
  afterAll(async () => {
    client.disconnect()
    await cluster.stop()
  })

  test('what is given back after the edge of a window goes into the window that was charged', async () => {
    const [address, user] = await Promise.all([keyAt(0, 'address'), keyAt(1, 'user')])
    const [behind, ahead] = cluster.masters
    const of = [perHour(10), perHour(1)] as const
    const ledger = guarded(client, of, 'edge')
    const now = Date.now()
    const edge = Math.ceil(now / HOUR) * HOUR + HOUR
    await ahead!.setClock(edge + HOUR / 2 - now)
    await ledger.consume(ask('elsewhere', user, of))
    // Granted in the last window, while the other node can't say yet that it refuses.
    await behind!.setClock(edge - HOUR / 2 - now)
    ahead!.pause()
    const refused = Array.from({ length: 8 }, () => ledger.consume(ask(address, user, of)))
    const charges = ask(address, address, of)
    const alone = guarded(client, [of[0]], 'edge')
    const granted = async () => (await left(alone, [charges[0]!]))[0] === 2
    await until(granted, { what: 'the address has granted' })
    await behind!.setClock(edge + 1000 - now)
    let count = 0
    const take = async () => {
      for (let i = 0; i < 18; i += 1) {
        if ((await alone.consume([charges[0]!])).admitted) count += 1
      }
    }
    await take()
    ahead!.resume()
    expect(admitted(await Promise.all(refused))).toBe(0)
    // What goes back is on its way before these.
    await take()
    expect(count).toBe(10)
  })

  test('what is settled after the edge of a window goes into the window that was charged', async () => {
    const [address, user] = await Promise.all([keyAt(0, 'address'), keyAt(1, 'user')])
    const policies = (['address', 'user'] as const).map((name, i) => {
      return {
        name,
        limit: [10, 1000][i] as number,
        window: '1h',
        algorithm: 'fixed-window',
      } as const
    })
    const options = { ...patient, store: client, policies, prefix: 'settled' } as const
    const limiter = createLimiter(options) as StoreLimiter
    const charges = [address, user].map((key, i) => {
      return { key, limit: limiter.compiledPolicies[i]?.compiledLimit as CompiledLimit, cost: 1 }
    })
    const take = async (count: number) => {
      const all = Array.from({ length: count }, () => limiter.decide(charges))
      return (await Promise.all(all)).filter(({ allowed }) => allowed)
    }
    const now = Date.now()
    const edge = Math.ceil(now / HOUR) * HOUR + HOUR
    await cluster.masters[0]!.setClock(edge - HOUR / 2 - now)
    await cluster.masters[1]!.setClock(edge + HOUR / 2 - now)
    const before = await take(8)
    await cluster.masters[0]!.setClock(edge + 1000 - now)
    expect(await take(18)).toHaveLength(10)
    const back = charges.map((charge) => ({ ...charge, cost: -1 }))
    for (const decision of before) await limiter.settleCharges(back, decision)
    expect(await take(18)).toHaveLength(0)
    const [, left] = (await limiter.decide(charges)).policies
    // The user's window is still the same.
    expect([before.length, left?.remaining]).toEqual([8, 1000 - 10])
  })
})
