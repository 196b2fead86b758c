// A master that is found through a Sentinel.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import {
  freePorts,
  launch,
  type OwnProcess,
  patient,
  type RedisServer,
  startRedis,
  terminate,
} from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import * as iovalkey from 'iovalkey'
import * as redis6 from 'redis'
import * as redis5 from 'redis5'
import { createLimiter, redisStore } from '../../index.ts'
import { type Open, ofIoRedis, ofNodeRedis } from './testing/every-client.ts'

let master: RedisServer
let sentinel: OwnProcess
let folder: string
let port: number
beforeAll(async () => {
  master = await startRedis()
  port = (await freePorts(1))[0]!
  folder = mkdtempSync(join(tmpdir(), 'sluice-sentinel-'))
  const file = join(folder, 'sentinel.conf')
  const lines = [`port ${port}`, `sentinel monitor main ${master.host} ${master.port} 1`]
  writeFileSync(file, `${lines.join('\n')}\n`)
  sentinel = await launch([file, '--sentinel'], folder, port)
})
afterAll(async () => {
  await terminate(sentinel)
  await master.stop()
  rmSync(folder, { recursive: true, force: true })
})

const host = '127.0.0.1'
const found = () => ({ name: 'main', sentinels: [{ host, port }] })
const sought = () => ({ name: 'main', sentinelRootNodes: [{ host, port }] })
const ways: Record<string, () => Open | Promise<Open>> = {
  'ioredis 6': () => ofIoRedis(new Redis(found())),
  'ioredis 5': () => ofIoRedis(new Redis5(found())),
  iovalkey: () => ofIoRedis(new iovalkey.Redis(found())),
  'node-redis 6': () => ofNodeRedis(redis6.createSentinel(sought())),
  'node-redis 5': () => ofNodeRedis(redis5.createSentinel(sought())),
}

test.each(Object.entries(ways))('%s', async (way, connect) => {
  const { client, close } = await connect()
  const limiter = createLimiter({ ...patient, store: client, limit: 2, window: '1d' })
  const allowed = []
  for (let i = 0; i < 3; i += 1) allowed.push((await limiter.consume(way)).allowed)
  expect(allowed).toEqual([true, true, false])
  const found = []
  for await (const { used } of redisStore(client).inspect({ key: way })) found.push(used)
  expect(found).toEqual([2])
  close()
})
