import { describe, expect, test } from '@jest/globals'
import { Cluster } from 'ioredis'
import { type RedisCluster, startCluster } from './cluster.ts'
import { until } from './until.ts'

async function movedReplies({ nodes }: RedisCluster): Promise<string[]> {
  const errors = await Promise.all(nodes.map((node) => node.info('errorstats')))
  return errors.flatMap(Object.keys).filter((field) => field.includes('MOVED'))
}

describe('a cluster', () => {
  test('of three masters serves every slot to a client that asks the right node', async () => {
    const cluster = await startCluster()
    const client = new Cluster([{ host: cluster.nodes[0]!.host, port: cluster.nodes[0]!.port }])
    const keys = Array.from({ length: 100 }, (_, index) => `key ${index}`)
    const replies = await Promise.all(keys.map((key) => client.set(key, 'value')))
    expect(new Set(replies)).toEqual(new Set(['OK']))
    expect(await movedReplies(cluster)).toEqual([])
    const sizes = await Promise.all(cluster.nodes.map((node) => node.command('DBSIZE')))
    expect(sizes.every((size) => Number(size) > 0)).toBe(true)
    client.disconnect()
    await cluster.stop()
    await expect(cluster.nodes[0]!.command('PING')).rejects.toThrow()
  })

  test('with replicas replaces a master that dies', async () => {
    const cluster = await startCluster({ replicasPerMaster: 1, nodeTimeoutMs: 1_000 })
    expect(cluster.nodes).toHaveLength(6)
    const replica = cluster.replicas[0]!
    expect((await replica.info('replication')).master_port).toBe(String(cluster.masters[0]!.port))
    await cluster.masters[0]!.kill()
    const promoted = async () => (await replica.info('replication')).role === 'master'
    await until(promoted, { what: 'the replica is promoted' })
    await cluster.stop()
  })
})
