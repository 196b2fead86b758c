import { describe, expect, test } from '@jest/globals'
import { describeUnless } from '@sluice/test-harness/jest'
import { whyNoMysql } from '@sluice/test-harness/mysql'
import { whyNoPostgres } from '@sluice/test-harness/postgres'
import { whyNoSqlite } from '@sluice/test-harness/sqlite'
import type { History } from './history.ts'
import { judge } from './judge.ts'
import { linearize } from './linearize.ts'
import { record } from './record.ts'

/** Between two kills. */
const CALLS = 100

async function recordRight(store: string): Promise<ReadonlyMap<string, History>> {
  const histories = await record(store, CALLS)
  const { wrong, undecided } = judge(histories)
  expect(wrong).toEqual([])
  expect(undecided.length).toBeLessThan(histories.size / 2)
  return histories
}

/** Whether the history would be found wrong if one of its charges had never been asked. */
function showsLostCharge({ operations, ...history }: History): boolean {
  const charges = operations.filter(({ asked, answer }) => answer?.allowed && isCharge(asked))
  return charges.slice(0, 10).some((charge) => {
    const others = operations.filter((each) => each !== charge)
    return typeof linearize({ ...history, operations: others }) === 'object'
  })
}

function isCharge(asked: object): boolean {
  return 'cost' in asked && (asked.cost as number) > 0
}

describe('the answers to all processes are one history of the sequential limiter, while they and the store are killed', () => {
  test('Redis; and a lost charge would be found', async () => {
    const histories = await recordRight('redis')
    expect([...histories.values()].some(showsLostCharge)).toBe(true)
  })
  test('Redis Cluster; and what a replica did not get has been lost', async () => {
    const histories = await recordRight('cluster')
    // A search may not come to an end on a slow machine, and a key may have lost nothing.
    const isWrongWithout = (history: History) =>
      typeof linearize({ ...history, losses: [] }) === 'object'
    expect([...histories.values()].some(isWrongWithout)).toBe(true)
  })
})
describeUnless(whyNoPostgres(), 'so it is', () => {
  test('with PostgreSQL, which loses what it had not written', async () => {
    await recordRight('postgres')
  })
})
test('so it is with DynamoDB, whose processes are killed', async () => {
  await recordRight('dynamodb')
})
describeUnless(whyNoMysql(), 'so it is', () => {
  test('with MariaDB', async () => {
    await recordRight('mysql')
  })
})
describeUnless(whyNoSqlite(), 'so it is', () => {
  test('with SQLite', async () => {
    await recordRight('sqlite')
  })
})
