// Faults in which a Redis Cluster fails, or changes.

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/core'
import {
  hashSlotOf,
  moveSlot,
  patient,
  type RedisCluster,
  type RedisServer,
  startCluster,
  until,
} from '@sluice/test-harness/redis'
import { Cluster, type ClusterOptions } from 'ioredis'
import { algorithms } from '../../../core/src/algorithms/index.ts'
import { guarded } from '../../../core/src/stores/redis/testing/guarded.ts'
import { conclude, note } from './figures.ts'
import { LIMIT, Load } from './load.ts'
import './warning-codes.ts'

let cluster: RedisCluster
const clients: Cluster[] = []

function connect(options: ClusterOptions = {}): Cluster {
  const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }))
  const client = new Cluster(nodes, {
    redisOptions: { disconnectTimeout: 0 },
    slotsRefreshInterval: 500,
    ...options,
  })
  client.on('error', () => {})
  clients.push(client)
  return client
}

/** The master that has keys of this pattern; those of the load's client that is never refused. */
async function masterOf(pattern: string): Promise<RedisServer> {
  for (const master of cluster.masters) {
    const keys = (await master.command('KEYS', pattern)) as string[]
    if (keys.some((key) => !key.includes(':{#}:'))) return master
  }
  throw new Error(`no master has a key like ${pattern}`)
}

afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect()
  await cluster.stop()
})

describe('three masters', () => {
  test('a slot is migrated under traffic (MOVED, ASK)', async () => {
    cluster = await startCluster()
    const client = connect()
    const base = { ...patient, store: client, limit: LIMIT, window: '1d' } as const
    const limiter = createLimiter({ ...base, algorithm: 'sliding-log', prefix: 'moves' })
    await limiter.consume('mover')
    const slot = await hashSlotOf(cluster, '{mover}')
    const from = cluster.masters[Math.floor((slot * 3) / 16_384)]!
    const to = cluster.masters.find((master) => master !== from)!
    const load = new Load(client).start()
    let admitted = 1
    const consume = async () => {
      for (let i = 0; i < 15; i += 1) if ((await limiter.consume('mover')).allowed) admitted += 1
    }
    await moveSlot(cluster, slot, from, to, { during: consume })
    await consume()
    const report = await load.stop()
    expect(admitted).toBe(LIMIT)
    conclude(17, 'a slot migrated under traffic', report, { bound: LIMIT, normalMs: undefined })
  })

  test('two masters of three are cut off: the third refuses, this process decides', async () => {
    cluster = await startCluster({ nodeTimeoutMs: 1_000 })
    const load = new Load(connect()).start()
    await load.untilDecided(300)
    cluster.masters[0]!.pause()
    cluster.masters[1]!.pause()
    await load.untilDecidedBy('local')
    await load.untilDecided(500)
    cluster.masters[0]!.resume()
    cluster.masters[1]!.resume()
    const normalMs = await load.untilDecidedBy('store')
    await load.untilDecided(500)
    conclude(12, 'a master in the minority', await load.stop(), { bound: LIMIT, normalMs })
  })

  test('a policy refuses in its slot: what another slot granted is given back', async () => {
    cluster = await startCluster()
    const limit = algorithms['sliding-log'].compile({ limit: LIMIT, windowMs: 3_600_000 })
    const ledger = guarded(connect(), [limit, limit], 'apart')
    const charge = (key: string) => ({ key, limit, cost: 1 })
    const results = await Promise.all(
      Array.from({ length: 6 * LIMIT }, (_, i) =>
        ledger.consume([charge(`address ${i % 3}`), charge(`user ${i % 2}`)]),
      ),
    )
    // Three addresses and two users, each with its limit: the users have less together.
    const admitted = results.filter((result) => result.admitted).length
    expect(admitted).toBeLessThanOrEqual(2 * LIMIT)
    const left = async (address: string, user: string) => {
      const { outcomes } = await ledger.peek([charge(address), charge(user)])
      return outcomes.map(({ remaining }) => LIMIT - remaining)
    }
    const [first, second, third] = await Promise.all([
      left('address 0', 'user 0'),
      left('address 1', 'user 1'),
      left('address 2', 'user 0'),
    ])
    expect(first![0]! + second![0]! + third![0]!).toBe(admitted)
    expect(first![1]! + second![1]!).toBe(admitted)
    const fault = 'one of two policies in different slots refuses'
    note({ row: 25, fault, excess: 0, bound: 0 })
  })
})

describe('three masters with replicas', () => {
  beforeEach(async () => {
    cluster = await startCluster({ replicasPerMaster: 1, nodeTimeoutMs: 1_000 })
  })

  test('a master is killed, and its replica takes over', async () => {
    const client = connect()
    const load = new Load(client).start()
    await load.untilDecided(300)
    const killed = await masterOf('*fixed-window*')
    const [lost, place] = await clientOutside(killed)
    await killed.kill()
    await load.untilDecidedBy('local')
    const normalMs = await load.untilDecidedBy('store')
    await load.untilDecided(500)
    conclude(11, 'a master of three killed', await load.stop(), { bound: LIMIT, normalMs })
    await loseTheLastWrites(client, lost, cluster.masters[place]!, cluster.replicas[place]!)
  })

  /** A client whose key another master has, and the number of that one. */
  async function clientOutside(master: RedisServer): Promise<[string, number]> {
    for (let i = 0; ; i += 1) {
      const slot = await hashSlotOf(cluster, `{client-${i}}`)
      const place = Math.floor((slot * 3) / 16_384)
      if (cluster.masters[place] !== master) return [`client-${i}`, place]
    }
  }

  /** What a replica has not got when it takes over is admitted once more, and no more than that. */
  async function loseTheLastWrites(
    client: Cluster,
    key: string,
    master: RedisServer,
    replica: RedisServer,
  ): Promise<void> {
    const options = {
      store: client,
      window: '1d',
      algorithm: 'sliding-log',
      prefix: 'lost',
    } as const
    const limiter = createLimiter({ ...patient, ...options, limit: LIMIT, onStoreError: 'deny' })
    const isAllowed = async () => (await limiter.consume(key)).allowed
    const times = async (count: number) => {
      let admitted = 0
      for (let i = 0; i < count; i += 1) if (await isAllowed()) admitted += 1
      return admitted
    }
    await limiter.override(key, { limit: LIMIT + 5 })
    await limiter.grant(key, 3, { id: 'kept' })
    expect(await times(10)).toBe(10)
    const isReplicated = async () => Number(await master.command('WAIT', 1, 100)) === 1
    await until(isReplicated, { what: 'the replica has all of it' })
    // It would read when it goes on what has been sent to it.
    replica.pause()
    await master.command('CLIENT', 'KILL', 'TYPE', 'replica')
    await limiter.grant(key, 7, { id: 'lost' })
    await limiter.override(key, { limit: LIMIT + 20 })
    expect(await times(20)).toBe(20)
    await master.kill()
    replica.resume()
    const decides = async () => (await limiter.peek(key)).source === 'store'
    await until(decides, { what: 'the replica decides' })
    expect(await limiter.peek(key)).toMatchObject({ limit: LIMIT + 8, remaining: LIMIT + 8 - 10 })
    // Repeated, each is made once, whether it was lost or not.
    expect(await limiter.grant(key, 3, { id: 'kept' })).toBe(false)
    expect(await limiter.grant(key, 7, { id: 'lost' })).toBe(true)
    await limiter.override(key, { limit: LIMIT + 20 })
    // The twenty that were lost, beyond the limit.
    expect(10 + 20 + (await times(3 * LIMIT))).toBe(LIMIT + 20 + 10 + 20)
    limiter.close()
  }
})
