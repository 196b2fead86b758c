import { expect, test } from '@jest/globals'
import { Redis } from 'ioredis'
import { startSentinel } from './sentinel.ts'
import { until } from './until.ts'

test('sentinels replace a master that dies, and a client of theirs writes again', async () => {
  const set = await startSentinel({ server: { args: ['--maxmemory', '5mb'] } })
  expect([set.replicas.length, set.sentinels.length]).toEqual([1, 3])
  /** The port of the master that the last sentinel names to clients. */
  const named = async () => {
    const args = ['GET-MASTER-ADDR-BY-NAME', set.name]
    return Number(((await set.sentinels[2]!.command('SENTINEL', ...args)) as string[])[1])
  }
  expect(await named()).toBe(set.master.port)
  for (const server of [set.master, ...set.replicas])
    expect((await server.info('memory')).maxmemory).toBe(String(5 * 1024 * 1024))
  const client = new Redis({
    sentinels: set.sentinels.map(({ host, port }) => ({ host, port })),
    name: set.name,
    maxRetriesPerRequest: null,
    disconnectTimeout: 0,
  })
  client.on('error', () => {})
  expect(await client.set('key', 'before')).toBe('OK')

  const replica = set.replicas[0]!
  await set.sentinels[0]!.kill()
  await set.master.kill()
  const replaced = async () => (await named()) === replica.port
  await until(replaced, { what: 'the sentinels name the replica' })
  expect(await client.set('key', 'after')).toBe('OK')
  expect(await replica.command('GET', 'key')).toBe('after')
  client.disconnect()
  await set.stop()
  await expect(set.sentinels[1]!.command('PING')).rejects.toThrow()
})
