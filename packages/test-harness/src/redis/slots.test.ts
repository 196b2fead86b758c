import { expect, test } from '@jest/globals'
import { Cluster } from 'ioredis'
import { startCluster } from './cluster.ts'
import type { RedisServer } from './server.ts'
import { hashSlotOf, type MoveStage, moveSlot } from './slots.ts'

/** How often a node has sent a client elsewhere. */
async function redirections(node: RedisServer): Promise<Record<string, number>> {
  const { errorstat_ASK, errorstat_MOVED } = await node.info('errorstats')
  const count = (stat = 'count=0') => Number(stat.replace('count=', ''))
  return { ask: count(errorstat_ASK), moved: count(errorstat_MOVED) }
}

test('a slot moves with its keys under traffic, and a counter keeps its value', async () => {
  const cluster = await startCluster()
  const [from, to] = cluster.masters as [RedisServer, RedisServer, RedisServer]
  const client = new Cluster([{ host: from.host, port: from.port }])
  // Of the first third of the slots, which the first master has.
  const slot = await hashSlotOf(cluster, '{b}')
  const keys = Array.from({ length: 250 }, (_, index) => `{b}:${index}`)
  await Promise.all(keys.map((key) => client.incr(key)))
  expect(await from.command('CLUSTER', 'COUNTKEYSINSLOT', slot)).toBe(250)

  const seen: [MoveStage, number, number, Record<string, number>][] = []
  await moveSlot(cluster, slot, from, to, {
    during: async (stage) => {
      const value = await client.incr(keys[0]!)
      const left = Number(await from.command('CLUSTER', 'COUNTKEYSINSLOT', slot))
      seen.push([stage, value, left, await redirections(from)])
    },
  })
  expect(seen).toEqual([
    ['open', 2, 250, { ask: 0, moved: 0 }],
    ['moved', 3, 0, { ask: 1, moved: 0 }],
    ['owned', 4, 0, { ask: 1, moved: 1 }],
  ])
  expect(await client.mget(keys)).toEqual(['4', ...keys.slice(1).map(() => '1')])
  expect(await to.command('CLUSTER', 'COUNTKEYSINSLOT', slot)).toBe(250)
  client.disconnect()
  await cluster.stop()
})
