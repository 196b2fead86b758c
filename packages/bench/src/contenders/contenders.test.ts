// What is measured is what the tables say: every contender counts, and every server answers.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from '@jest/globals'
import { startDynamodb } from '@sluice/test-harness/dynamodb'
import { describeUnless, scratch, useRedis } from '@sluice/test-harness/jest'
import { startMysql, whyNoMysql } from '@sluice/test-harness/mysql'
import { startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { startCluster } from '@sluice/test-harness/redis'
import { Cluster } from 'ioredis'
import { createPool } from 'mysql2'
import { Pool } from 'pg'
import { dynamodbClient, dynamodbContenders } from './dynamodb.ts'
import { frameworks } from './frameworks.ts'
import { AS_PEER, FLOOR_OF_DEFAULTS, FLOOR_OF_PEER, type HttpContenders } from './http.ts'
import { limiterFields } from './limiter-fields.ts'
import { memoryContenders } from './memory.ts'
import { mysqlContenders } from './mysql.ts'
import { postgresContenders } from './postgres.ts'
import { redisContenders } from './redis.ts'
import { sqliteContenders } from './sqlite.ts'
import { BODY } from './terms.ts'

const redis = useRedis()

it.each(Object.keys(memoryContenders))('%s counts in memory', async (name) => {
  const count = memoryContenders[name]!()
  for (const key of ['a', 'b', 'a']) expect(await count(key)).toBeGreaterThanOrEqual(0)
})

it.each(Object.keys(redisContenders))('%s counts on Redis', async (name) => {
  await redis.server.command('FLUSHALL')
  const decide = redisContenders[name]!(redis.client)
  for (const key of ['a', 'b', 'a']) expect(await decide(key)).toBeGreaterThanOrEqual(0)
  expect(await redis.client.dbsize()).toBeGreaterThanOrEqual(2)
})

it('each counts on a cluster', async () => {
  const nodes = await startCluster()
  const cluster = new Cluster(nodes.masters.map(({ host, port }) => ({ host, port })))
  await once(cluster, 'ready')
  for (const make of Object.values(redisContenders)) {
    const decide = make(cluster)
    for (const key of ['a', 'b', 'c', 'a']) expect(await decide(key)).toBeGreaterThanOrEqual(0)
  }
  cluster.disconnect()
  await nodes.stop()
})

const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined
const { folder } = scratch()
describeUnless(hasSqlite ? undefined : 'SQLite needs Node ≥ 22.5', 'SQLite', () => {
  const inFiles = Object.entries(sqliteContenders).filter(([name]) =>
    /sqlite|transaction/i.test(name),
  )
  it.each(inFiles)('%s counts in a file', async (name, { make }) => {
    const decide = await make({ path: `${folder}/${name.length}.db`, socket: '' })
    for (const key of ['a', 'b', 'a']) expect(await decide(key)).toBeGreaterThanOrEqual(0)
  })
})

describeUnless(whyNoPostgres(), 'PostgreSQL', () => {
  it('each counts there', async () => {
    const postgres = await startPostgres()
    const pool = new Pool({ connectionString: postgres.url })
    for (const make of Object.values(postgresContenders)) {
      const decide = await make(pool, { connectionString: postgres.url })
      for (const key of ['a', 'b', 'a']) expect(await decide(key)).toBeGreaterThanOrEqual(0)
    }
    await pool.end()
    await postgres.stop()
  })
})

it('each counts in DynamoDB', async () => {
  const dynamodb = await startDynamodb()
  const client = dynamodbClient(dynamodb.url)
  for (const make of Object.values(dynamodbContenders)) {
    const decide = await make(client)
    for (const key of ['a', 'b', 'a']) expect(await decide(key)).toBeGreaterThanOrEqual(0)
  }
  client.destroy()
  await dynamodb.stop()
})

describeUnless(whyNoMysql(), 'MySQL', () => {
  it('each counts there', async () => {
    const mysql = await startMysql()
    const pool = createPool(mysql.url)
    for (const make of Object.values(mysqlContenders)) {
      const decide = await make(pool)
      for (const key of ['a', 'b', 'a']) expect(await decide(key)).toBeGreaterThanOrEqual(0)
    }
    await pool.promise().end()
    await mysql.stop()
  })
})

describe.each(Object.entries(frameworks))('%s', (_, contenders: HttpContenders) => {
  it.each(Object.keys(contenders))('%s answers', async (name) => {
    const server = createServer(await contenders[name]!())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const response = await fetch(`http://127.0.0.1:${port}/`)
    expect(await response.json()).toEqual(BODY)
    const fields = [...response.headers.keys()].filter((field) => field.includes('ratelimit'))
    expect(fields.length > 0).toBe(name !== 'bare' && !name.endsWith('no headers'))
    server.close()
    server.closeAllConnections()
  })

  it('the floors set the fields that ours sets', async () => {
    const namesOf = async (name: string) =>
      (await limiterFields(await contenders[name]!())).map(([field]) => field)
    expect(await namesOf(FLOOR_OF_DEFAULTS)).toEqual(await namesOf('sluice'))
    expect(await namesOf(FLOOR_OF_PEER)).toEqual(await namesOf(AS_PEER))
    expect((await namesOf(FLOOR_OF_PEER)).length).toBeGreaterThan(1)
  })
})
