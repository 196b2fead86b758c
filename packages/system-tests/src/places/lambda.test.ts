// The page of functions: an instance of Lambda that starts, is frozen, and ends.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/core'
import {
  type RedisProxy,
  type RedisServer,
  startProxy,
  startRedis,
  until,
} from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { patientProgramOf, programOf, writeProgram } from './page.ts'

/** Calls the handler for each event on a line, one after the other, as an instance does. */
const RUNTIME = `
import { createInterface } from 'node:readline'
const { handler } = await import('./program.mjs')
for await (const sourceIp of createInterface(process.stdin)) {
  const { statusCode } = await handler({ requestContext: { http: { sourceIp } } })
  console.log(statusCode)
}`

let redis: RedisServer
let proxy: RedisProxy
beforeAll(async () => {
  redis = await startRedis()
  proxy = await startProxy(redis)
})
afterAll(async () => {
  await proxy.stop()
  await redis.stop()
})
beforeEach(async () => {
  await redis.command('FLUSHALL')
  proxy.latency(0)
})

let instance: ChildProcess | undefined
let exited: Promise<unknown[]>
let replies: AsyncIterator<string>
let folder: string
afterEach(async () => {
  if (instance === undefined) return
  instance.kill('SIGKILL')
  await exited
  instance = undefined
  await rm(folder, { recursive: true })
})

async function start(source = programOf('functions')): Promise<void> {
  ;({ folder } = await writeProgram(source))
  const runtime = join(folder, 'runtime.mjs')
  await writeFile(runtime, RUNTIME)
  instance = spawn(process.execPath, [runtime], {
    env: { ...process.env, REDIS_URL: proxy.url },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  exited = once(instance, 'exit')
  replies = createInterface(instance.stdout!)[Symbol.asyncIterator]()
}

async function invoke(address = '192.0.2.1'): Promise<number> {
  instance!.stdin!.write(`${address}\n`)
  return Number((await replies.next()).value)
}

test('an instance connects once, and keeps its connection from event to event', async () => {
  const { connections } = proxy.counts
  await start(patientProgramOf('functions'))
  for (let i = 0; i < 61; i += 1) expect(await invoke()).toBe(i < 60 ? 200 : 429)
  expect(proxy.counts.connections - connections).toBe(1)
})

test.each([
  ['100 ms are over: this instance decides', () => programOf('functions'), 60_000, 0],
  ["deadline: '30s' waits for it", () => patientProgramOf('functions'), 300, 1],
])(
  'the first event includes the connection in the deadline: %s',
  async (_, source, latencyMs, keys) => {
    proxy.latency(latencyMs)
    await start(source())
    expect(await invoke()).toBe(200)
    expect(await redis.command('KEYS', '*{192.0.2.1}*')).toHaveLength(keys)
  },
)

test('an instance that was frozen answers, and counts in Redis again, also if its connection is dead', async () => {
  await start()
  await until(async () => (await invoke()) && (await redis.command('DBSIZE')) !== 0, {
    what: 'Redis counts',
  })
  instance!.kill('SIGSTOP')
  const { connections } = proxy.counts
  proxy.cut()
  instance!.kill('SIGCONT')
  expect(await invoke('192.0.2.2')).toBe(200)
  const counts = async () => {
    expect(await invoke('192.0.2.3')).toBe(200)
    return ((await redis.command('KEYS', '*{192.0.2.3}*')) as string[]).length > 0
  }
  await until(counts, { what: 'Redis counts again', everyMs: 100 })
  expect(proxy.counts.connections - connections).toBe(1)
})

test('close() waits for nothing, and a process ends although Redis hangs', async () => {
  await start(`
    import { createLimiter } from '@sluice/core'
    import { Redis } from 'ioredis'
    const redis = new Redis(process.env.REDIS_URL!)
    redis.on('error', () => {})
    await redis.ping()
    const limiter = createLimiter({ store: redis, limit: 60, window: '1m', deadline: '1s' })
    export async function handler(event) {
      const { allowed, source } = await limiter.consume(event.requestContext.http.sourceIp)
      if (source === 'store') return { statusCode: allowed ? 200 : 429 }
      // As a handler of SIGTERM does.
      const waiting = limiter.consume('another')
      const closed = limiter.close()
      redis.disconnect()
      return { statusCode: closed === undefined && (await waiting).allowed ? 204 : 500 }
    }`)
  expect(await invoke()).toBe(200)
  redis.pause()
  expect(await invoke()).toBe(204)
  instance!.stdin!.end()
  expect(await exited).toEqual([0, null])
  redis.resume()
})

test('what waits for the store when the limiter is closed is decided', async () => {
  const client = new Redis(redis.url)
  const limiter = createLimiter({ store: client, limit: 5, window: '1d', prefix: 'closing' })
  await limiter.consume('client')
  redis.pause()
  const waiting = limiter.consume('client')
  expect(limiter.close()).toBeUndefined()
  expect(await waiting).toMatchObject({ allowed: true, source: 'local' })
  redis.resume()
  client.disconnect()
})
