// All levels of a call, and its run, are one decision of one node of a Redis Cluster.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type RedisCluster, startCluster } from '@sluice/test-harness/redis'
import { Cluster } from 'ioredis'
import { type Budget, createBudget } from './index.ts'

const ORGANISATIONS = Array.from({ length: 12 }, (_, i) => `organisation-${i}`)
const whoOf = (organisation: string) => ({ key: 'blue', team: 'core', organisation })

let cluster: RedisCluster
let client: Cluster
let budget: Budget<'key' | 'team' | 'organisation'>

beforeAll(async () => {
  cluster = await startCluster()
  client = new Cluster(cluster.nodes.map(({ host, port }) => ({ host, port })))
  const levels = { key: 1000, team: 100, organisation: 500 }
  budget = createBudget({ store: client, unit: 'tokens', window: 'month', levels })
})
afterAll(async () => {
  budget.close()
  client.disconnect()
  await cluster.stop()
})

/** How many scripts each node has run. */
function scripts(): Promise<number[]> {
  return Promise.all(
    cluster.masters.map(async (node) => {
      const stats = String(await node.command('INFO', 'commandstats'))
      const counts = [...stats.matchAll(/cmdstat_(?:eval|evalsha|fcall):calls=(\d+)/g)]
      return counts.reduce((sum, [, calls]) => sum + Number(calls), 0)
    }),
  )
}

const ask = { model: 'any', output: 60 }

test('one decision charges all levels and the run, or none of them', async () => {
  // The first call of each node loads the scripts.
  for (const organisation of ORGANISATIONS) {
    const who = whoOf(organisation)
    const run = budget.run({ id: 'task', max: 500, maxCalls: 10 })
    await (await run.reserve(who, { model: 'any', output: 1 })).settle({ model: 'any', output: 0 })
  }
  const before = await scripts()
  const calls = []
  for (const organisation of ORGANISATIONS) {
    const run = budget.run({ id: 'task', max: 500, maxCalls: 10 })
    calls.push(await run.reserve(whoOf(organisation), ask))
    // The team has 40 left: what the others had room for is not charged.
    calls.push(await run.reserve(whoOf(organisation), ask))
  }
  const ran = (await scripts()).map((count, i) => count - (before[i] as number))
  expect(calls.map(({ allowed, level }) => (allowed ? 'allowed' : level))).toEqual(
    ORGANISATIONS.flatMap(() => ['allowed', 'team']),
  )
  // The organisations are spread over the nodes, and each call was one script.
  expect(ran.every((count) => count > 0)).toBe(true)
  expect(ran.reduce((sum, count) => sum + count, 0)).toBe(calls.length)
  for (const organisation of ORGANISATIONS) {
    const run = budget.run({ id: 'task', max: 500, maxCalls: 10 })
    const { levels } = await run.usage(whoOf(organisation))
    expect(levels.map(({ level, used }) => [level, used])).toEqual([
      ['key', 60],
      ['team', 60],
      ['organisation', 60],
      ['run', 60],
      ['calls', 2],
    ])
  }
})

test('own limits and top-ups apply on every node', async () => {
  for (const organisation of ORGANISATIONS) {
    const who = whoOf(organisation)
    expect(await budget.grant(who, 50, { level: 'team', id: 'order' })).toBe(true)
    expect(await budget.grant(who, 50, { level: 'team', id: 'order' })).toBe(false)
    await budget.override(who, { level: 'organisation', limit: 130 })
    const calls = [await budget.reserve(who, ask), await budget.reserve(who, ask)]
    expect(calls.map(({ level }) => level)).toEqual(['organisation', 'organisation'])
    expect(calls[0]?.levels.map(({ limit, used }) => [limit, used])).toEqual([
      [1000, 120],
      [150, 120],
      [130, 120],
    ])
    await budget.override(who, { level: 'organisation', limit: null })
  }
})

test('a hundred calls at once never admit more than fits, on any node', async () => {
  const all = ORGANISATIONS.flatMap((organisation) =>
    Array.from({ length: 20 }, (_, i) =>
      budget.reserve({ key: `key-${i}`, team: 'many', organisation }, { model: 'any', output: 7 }),
    ),
  )
  const calls = await Promise.all(all)
  expect(calls.filter(({ allowed }) => allowed)).toHaveLength(14 * ORGANISATIONS.length)
  await Promise.all(calls.map((call) => call.settle({ model: 'any', output: 5 })))
  for (const organisation of ORGANISATIONS) {
    const { levels } = await budget.usage({ key: 'key-0', team: 'many', organisation })
    expect(levels[1]).toMatchObject({ level: 'team', used: 70 })
  }
})
