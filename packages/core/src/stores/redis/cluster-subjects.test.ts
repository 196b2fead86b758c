// Policies of an address and of a user in a Redis Cluster: each is decided in its own slot, and
// what one grants is given back when another refuses.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type RedisCluster, startCluster, until } from '@sluice/test-harness/redis'
import fc from 'fast-check'
import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import {
  ALGORITHM_NAMES,
  type AlgorithmName,
  algorithms,
  concurrency,
} from '../../algorithms/index.ts'
import {
  type Charge,
  memoryStore,
  redisStore,
  type StoreMode,
  type StoreResult,
} from '../../index.ts'
import { type ManualClock, manualClock } from '../../testing/index.ts'
import { type LedgerVerbs, withVerbs } from '../../testing/ledger-verbs.ts'
import { givenBack } from '../rules/slots.ts'
import { everyCluster, type Open, ofEachFamily } from './testing/every-client.ts'
import { guarded } from './testing/guarded.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startCluster()
})
afterAll(() => cluster.stop())

let scenario = 0

/** A ledger of the policies as limiters have it, in keys that no other test has touched. */
function ledgerOf(
  open: Open,
  limits: readonly CompiledLimit[],
  clock: ManualClock,
): LedgerVerbs<'async'> {
  scenario += 1
  return guarded(open.client, limits, `subjects-${process.pid}-${scenario}`, { clock })
}

const LIMIT = 5
const WINDOW = 10_000

/** `LIMIT` per `WINDOW`. The leaky bucket's queue is as long as makes it hold just as much. */
function limitOf(name: AlgorithmName): CompiledLimit {
  return algorithms[name].compile({ limit: LIMIT, windowMs: WINDOW, maxDelayMs: 8_000 })
}

const charge = (key: string, limit: CompiledLimit, cost = 1): Charge => ({ key, limit, cost })
const perHour = (limit: number) =>
  algorithms['fixed-window'].compile({ limit, windowMs: 3_600_000 })

async function remaining(
  ledger: LedgerVerbs,
  key: string,
  limits: readonly CompiledLimit[],
): Promise<number[]> {
  const { outcomes } = await ledger.peek(limits.map((limit) => charge(key, limit, 0)))
  return outcomes.map((outcome) => outcome.remaining)
}

async function scriptRuns(): Promise<number> {
  const stats = await Promise.all(cluster.nodes.map((node) => node.commandStats()))
  return stats.reduce((sum, all) => sum + (all.eval?.calls ?? 0) + (all.evalsha?.calls ?? 0), 0)
}

describe.each(ofEachFamily(everyCluster))('with a cluster of %s', (_, connect) => {
  let open: Open
  const clock = manualClock()
  beforeAll(async () => {
    open = await connect(cluster)
  })
  afterAll(() => open.close())

  test('60 requests at once from one address, over 3 users: 30 at most, and all is counted', async () => {
    const run = async (perAddress: number, perUser: number, cost: number) => {
      const limits = [perHour(perAddress), perHour(perUser)] as const
      const ledger = ledgerOf(open, limits, clock)
      const results = await Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          ledger.consume([
            charge('192.0.2.1', limits[0], cost),
            charge(`user:${i % 3}`, limits[1], cost),
          ]),
        ),
      )
      const admitted = results.map((result) => result.admitted)
      const units = cost * admitted.filter(Boolean).length
      expect(units).toBeLessThanOrEqual(perAddress)
      const [address] = await remaining(ledger, '192.0.2.1', limits)
      expect(address).toBe(perAddress - units)
      for (const user of [0, 1, 2]) {
        const own = cost * admitted.filter((yes, i) => yes && i % 3 === user).length
        expect(own).toBeLessThanOrEqual(perUser)
        expect((await remaining(ledger, `user:${user}`, limits))[1]).toBe(perUser - own)
      }
      return units
    }
    expect(await run(30, 30, 1)).toBe(30)
    expect(await run(30, 5, 1)).toBe(15)
    const limits = fc.integer({ min: 0, max: 40 })
    const property = fc.asyncProperty(
      limits,
      limits,
      fc.integer({ min: 1, max: 3 }),
      async (...of) => {
        await run(...of)
      },
    )
    await fc.assert(property, { numRuns: 15 })
  })

  test('a probe writes where the key is of which it is to find out', async () => {
    const ledger = redisStore(open.client, { clock }).open(
      [{ name: 'p', algorithm: algorithms['fixed-window'] }],
      'probes',
    )
    const writing = new Set<number>()
    for (let i = 0; i < 30; i += 1) writing.add(await writesOn(`user:${i}`))
    expect(writing.size).toBe(cluster.nodes.length)

    /** The node that writes when a charge of this key is probed. */
    async function writesOn(key: string): Promise<number> {
      await Promise.all(cluster.nodes.map((node) => node.command('CONFIG', 'RESETSTAT')))
      await ledger.change({ kind: 'settle', charges: [charge(key, perHour(5), 0)], isProbe: true })
      const stats = await Promise.all(cluster.nodes.map((node) => node.commandStats()))
      return stats.findIndex(({ setrange }) => setrange !== undefined)
    }
  })

  test('slots of a user beside the rate of an address: taken and renewed where their key is', async () => {
    const limits = [concurrency.compile({ limit: 2, windowMs: WINDOW }), perHour(3)] as const
    const ledger = ledgerOf(open, limits, clock)
    const ask = (slot: number, address: string): Charge[] => [
      { ...charge('user', limits[0]), claim: [slot] },
      charge(address, limits[1]),
    ]
    const free = async () => (await remaining(ledger, 'user', limits))[0]
    const take = async (slot: number, address: string) =>
      (await ledger.consume(ask(slot, address))).admitted
    for (let slot = 1; slot <= 3; slot += 1) {
      expect(await take(slot, 'address')).toBe(true)
      await ledger.settle(givenBack(ask(slot, 'address')))
    }
    // What the address refuses gives its slot back.
    expect(await take(4, 'address')).toBe(false)
    const isFree = async () => (await free()) === 2
    await until(isFree, { what: 'the slot of the refused request is free' })
    expect([await take(5, 'other'), await take(6, 'other'), await take(7, 'other')]).toEqual([
      true,
      true,
      false,
    ])
    clock.advance(WINDOW - 1)
    await ledger.renew([ask(5, 'other'), ask(6, 'other')])
    clock.advance(WINDOW - 1)
    expect(await free()).toBe(0)
    await ledger.settle(givenBack(ask(5, 'other')))
    expect([await free(), (await remaining(ledger, 'other', limits))[1]]).toEqual([1, 1])
  })

  test.each(ALGORITHM_NAMES)('what %s granted is given back when another refuses', async (name) => {
    const limits = [limitOf(name), limitOf('fixed-window')] as const
    const ledger = ledgerOf(open, limits, clock)
    const ask = (cost: number) => [charge('address', limits[0], cost), charge('user', limits[1], 2)]
    expect((await ledger.consume(ask(1))).admitted).toBe(true)
    expect((await ledger.consume(ask(1))).admitted).toBe(true)
    const untouched = await ledger.peek(ask(0))
    const refused = await ledger.consume(ask(2))
    expect(refused).toMatchObject({ admitted: false, source: 'store' })
    expect(refused.outcomes[0]).toEqual(untouched.outcomes[0])
    expect(refused.outcomes.map((outcome) => outcome.admitted)).toEqual([true, false])
    // The node may have to load the script first.
    const isBack = async () => (await remaining(ledger, 'address', limits))[0] === LIMIT - 2
    await until(isBack, { what: 'what was granted is given back' })
    expect(await remaining(ledger, 'user', limits)).toEqual([LIMIT, LIMIT - 4])
  })

  test('whatever is asked, one at a time, is answered as by a store that is no cluster', async () => {
    const keys = fc.constantFrom('a', 'b', '{t}a', '{t}b')
    const cost = fc.integer({ min: 0, max: 3 })
    const operation = fc.record({
      op: fc.constantFrom(
        'consume',
        'consume',
        'consume',
        'peek',
        'settle',
        'block',
        'reset',
        'pass',
      ),
      keys: fc.tuple(keys, keys, keys),
      costs: fc.tuple(cost, cost, cost),
    })
    const names = fc.constantFrom(...ALGORITHM_NAMES)
    const property = fc.asyncProperty(
      fc.tuple(names, names, names),
      fc.array(operation, { maxLength: 30 }),
      async (policies, operations) => {
        const own = manualClock()
        const limits = policies.map(limitOf)
        const keyspaces = limits.map(({ algorithm }, i) => ({ name: `p${i}`, algorithm }))
        const memory = memoryStore({ clock: own })
        const ledgers: LedgerVerbs[] = [
          withVerbs<StoreMode>(memory.open(keyspaces, 'one')),
          ledgerOf(open, limits, own),
        ]
        for (const { op, keys, costs } of operations) {
          if (op === 'pass') own.advance((costs[0] * WINDOW) / 5)
          const charges = limits.map((limit, i) => charge(keys[i]!, limit, costs[i]))
          const results = []
          for (const ledger of ledgers) {
            if (op === 'consume' || op === 'peek') results.push(copy(await ledger[op](charges)))
            if (op === 'settle') await ledger.settle(charges, own())
            if (op === 'block') await ledger.block(keys[0], 1 + costs[0])
            if (op === 'reset') await ledger.reset(keys[0])
            // What is given back has been sent before the next round trip, or, where the server does
            // not have the script yet, after it.
            await ledger.peek(charges)
          }
          for (const each of results) delete each.origins
          expect(results[1]).toEqual(results[0])
        }
        memory.close()
      },
    )
    await fc.assert(property, { numRuns: 40 })
  })

  test('policies of the same subject remain one call, and requests for them share it', async () => {
    const limits = [perHour(100), perHour(100), perHour(100)] as const
    const ledger = ledgerOf(open, limits, clock)
    const ask = (user: string) => [
      charge('address', limits[0]),
      charge(user, limits[1]),
      charge('address', limits[2]),
    ]
    await ledger.consume(ask('u0'))
    await Promise.all(cluster.nodes.map((node) => node.command('CONFIG', 'RESETSTAT')))
    const users = ['u1', 'u2', 'u1', 'u2', 'u2', 'address', 'address']
    expect((await Promise.all(users.map((user) => ledger.consume(ask(user))))).every(admits)).toBe(
      true,
    )
    // The address, as itself and where it is the user too, and two users.
    expect(await scriptRuns()).toBe(4)
    expect(await remaining(ledger, 'address', limits)).toEqual([92, 98, 92])
  })

  test('the levels of a shard are decided in one call, all or nothing, as those of other requests are', async () => {
    const limits = [perHour(100), perHour(100), perHour(3), perHour(100)] as const
    const ledger = ledgerOf(open, limits, clock)
    const ask = (shard: string, user: number, cost = 1) =>
      [`{${shard}}key:${user}`, `{${shard}}user:${user}`, `{${shard}}org`, '{other}any'].map(
        (key, i) => charge(key, limits[i]!, cost),
      )
    const own = (shard: string, user: number, cost = 1) => ask(shard, user, cost).slice(0, 3)
    const three = limits.slice(0, 3)
    const some = ledgerOf(open, three, clock)
    await some.consume(own('warm', 1))
    await Promise.all(cluster.nodes.map((node) => node.command('CONFIG', 'RESETSTAT')))
    const users = [1, 2, 3, 4, 5]
    const results = await Promise.all([
      ...users.map((user) => some.consume(own('acme', user))),
      ...users.map((user) => some.consume(own('ada', user))),
    ])
    expect(results.filter(admits)).toHaveLength(6)
    // Nothing is given back, since nothing that was refused was charged.
    expect(await scriptRuns()).toBe(2)
    for (const user of users) {
      const left = user <= 3 ? 99 : 100
      const { outcomes } = await some.peek(own('acme', user, 0))
      expect(outcomes.map(({ remaining }) => remaining)).toEqual([left, left, 0])
    }
    await some.settle(own('acme', 1, -1))
    await some.block('{acme}user:2', 1000)
    await some.reset('{acme}user:3')
    expect((await some.consume(own('acme', 2))).admitted).toBe(false)
    expect(await remaining(some, '{acme}user:3', three)).toEqual([100, 100, 3])
    expect((await some.consume(own('acme', 3))).admitted).toBe(true)
    // A policy in another shard is decided there, and what the others granted comes back.
    expect((await ledger.consume(ask('acme', 9))).admitted).toBe(true)
    expect((await ledger.consume(ask('acme', 9, 4))).admitted).toBe(false)
    const isBack = async () => {
      const { outcomes } = await ledger.peek(ask('acme', 9, 0))
      return `${outcomes.map(({ remaining }) => remaining)}` === '99,99,2,99'
    }
    await until(isBack, { what: 'what another shard granted is given back' })
  })

  test('a subject that can’t be decided: the stance decides, and what others granted comes back', async () => {
    const limits = [perHour(5), perHour(5), perHour(5)] as const
    const ledger = ledgerOf(open, limits, clock)
    const charges = ['address', 'user', 'tenant'].map((key, i) => charge(key, limits[i]!, 2))
    await ledger.consume(charges)
    const broken = `subjects-${process.pid}-${scenario}:{user}:p1`
    await onOwner('DEL', broken)
    await onOwner('RPUSH', broken, 'value')
    expect(await ledger.consume(charges)).toMatchObject({ admitted: false, source: 'deny' })
    const back = async () => {
      const address = await remaining(ledger, 'address', [limits[0]])
      const { outcomes } = await ledger.peek(limits.map((limit) => charge('tenant', limit, 0)))
      return address[0] === 3 && outcomes[2]?.remaining === 3
    }
    await until(back, { what: 'what was granted is given back' })
    expect(await ledger.peek(charges)).toMatchObject({ admitted: false, source: 'deny' })
    await expect(ledger.settle(charges)).rejects.toThrow(/WRONGTYPE/)
  })

  test('the shard of a key is its hash slot’s, the same for the keys of a hash slot', async () => {
    const ledger = ledgerOf(open, [perHour(1)], clock)
    const { shard } = redisStore(open.client).open([], 'any')
    const ids = [
      '192.0.2.1',
      'user:1',
      'é',
      '{a}',
      '{a}b',
      '{é}c',
      ...Array.from({ length: 40 }, (_, i) => `${i}`),
    ]
    const shards = new Set<number>()
    for (const id of ids) {
      await ledger.consume([charge(id, perHour(1))])
      shards.add(shard!(id))
    }
    const keys = await Promise.all(
      cluster.nodes.map((node) => node.command('KEYS', `subjects-${process.pid}-${scenario}:*`)),
    )
    const slots = (keys.flat() as string[]).map((key) =>
      cluster.nodes[0]!.command('CLUSTER', 'KEYSLOT', key),
    )
    const expected = (await Promise.all(slots)).map((slot) => Number(slot) >> 10)
    expect(expected).toHaveLength(ids.length)
    expect([...shards].sort()).toEqual([...new Set(expected)].sort())
  })
})

/** What every store says. The memory store's next call may overwrite its answer, which also has its states. */
function copy({ outcomes, ...result }: StoreResult): StoreResult {
  const kept = outcomes.map(
    ({ admitted, remaining, resetMs, retryAfterMs, effectiveMs, delayMs }) => {
      return { admitted, remaining, resetMs, retryAfterMs, effectiveMs, delayMs }
    },
  )
  return { ...result, outcomes: kept }
}

const admits = ({ admitted }: { admitted: boolean }) => admitted

/** Runs a command where the key is. */
async function onOwner(name: string, key: string, ...args: string[]): Promise<unknown> {
  for (const node of cluster.nodes) {
    const reply = await node.command(name, key, ...args).catch((error: Error) => error)
    if (!(reply instanceof Error)) return reply
    if (!reply.message.startsWith('MOVED')) throw reply
  }
  throw new Error(`no node has ${key}`)
}
