// What the person on call meets: pipes that close, stores that fail, and keys that can't be read.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { createLimiter } from '@sluice/core'
import { scratch } from '@sluice/test-harness/jest'
import { freePorts, patient, type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { cliFile } from '../testing/bundle-cli.ts'
import { ended, startCli } from '../testing/run-cli.ts'
import { connect } from './connect.ts'
import type { Connection } from './connection.ts'
import { Ranker } from './ranking.ts'

const { file } = scratch()
let redis: RedisServer
let connection: Connection
beforeAll(async () => {
  redis = await startRedis()
  connection = await connect({ redis: redis.url })
})
afterAll(async () => {
  connection?.close()
  await redis?.stop()
})
beforeEach(async () => {
  await redis.command('FLUSHALL')
  const terms = { prefix: 'sluice', limit: 5, window: '1d' } as const
  const limiter = createLimiter({ ...patient, store: connection.store, ...terms })
  await limiter.consume('client', { cost: 5 })
})

const sluice = async (args: readonly string[], url = redis.url) =>
  ended(await startCli(args, { REDIS_URL: url, DATABASE_URL: '' }))

describe('a key that cannot be read', () => {
  const names = ['sluice:{log}:sliding-log:60000:p', 'sluice:{slots}:concurrency:0:p']

  beforeEach(async () => {
    // An odd length, and entries that are no times, at which the script itself fails.
    const log = 'x'.repeat(31)
    const slots = Buffer.alloc(48, 255).toString('latin1')
    await redis.command('SET', names[0] as string, log)
    await redis.command('SET', names[1] as string, slots)
    await redis.command('SET', 'sluice:{client}:no-such-algorithm:1:2:3', 'x')
  })

  it('is skipped, counted and named', async () => {
    const top = await sluice(['top', '--once', '--json'])
    const ranking = JSON.parse(top.stdout)
    expect([top.code, ranking.keys, ranking.top[0].key]).toEqual([0, 1, 'client'])
    expect(ranking.unreadable.count).toBe(3)
    for (const name of names) expect(ranking.unreadable.names).toContain(name)
  })
})

describe('where the client of the application has a keyPrefix', () => {
  const [one, whole] = [['--yes'], ['--prefix', 'app:sluice']]
  let client: string
  beforeEach(async () => {
    const redis_ = new Redis(redis.url, { keyPrefix: 'app:' })
    const limiter = createLimiter({ ...patient, store: redis_, limit: 5, window: '1d' })
    await limiter.consume('ada', { cost: 5 })
    await until(async () => (await redis_.exists('sluice:{#}:keyspaces')) === 1, { what: 'noted' })
    redis_.disconnect()
    const ioredis = JSON.stringify(require.resolve('ioredis'))
    const url = JSON.stringify(redis.url)
    client = file(
      'client.cjs',
      `module.exports = new (require(${ioredis}).Redis)(${url}, { keyPrefix: 'app:' })`,
    )
  })

  it.each([
    ['inspect', 'ada'],
    ['top', '--once'],
    ['block', 'ada', '1h', ...one],
    ['unblock', 'ada', ...one],
    ['reset', 'ada', ...one],
    ['limit', 'ada', '9', ...one],
    ['policy', 'list'],
    ['serve'],
  ])('with it in --prefix, %s names --client and does nothing', async (...args) => {
    const { code, stdout, stderr } = await sluice([...args, ...whole])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain("puts 'app:' before its keys (keyPrefix)")
    expect(stderr).toContain('--client redis.js --prefix sluice')
    expect(await redis.command('KEYS', '*own*')).toEqual([])
  })

  it('without it, nothing is called unused, and nothing done', async () => {
    await redis.command('DEL', 'sluice:{client}:sliding-window:86400000:default')
    await redis.command('DEL', 'sluice:{#}:keyspaces')
    for (const args of [
      ['inspect', 'ada'],
      ['block', 'ada', '1h', ...one],
    ]) {
      const { code, stdout } = await sluice(args)
      expect(code).toBe(1)
      expect(stdout).toMatch(/no limiter has counted anybody .* --client$/m)
    }
    for (const name of ['unblock', 'reset'])
      expect((await sluice([name, 'ada', ...one])).code).toBe(1)
  })

  it('with --client, each command works', async () => {
    const run = async (args: readonly string[]) =>
      ended(await startCli([...args, '--client', client], { REDIS_URL: '', DATABASE_URL: '' }))
    expect((await run(['inspect', 'ada'])).stdout).toContain('5 used, 0 left')
    expect((await run(['block', 'ada', '1h', ...one])).stdout).toMatch(/^done: .*, until 2/)
    expect((await run(['inspect', 'ada'])).stdout).toContain('blocked for')
    expect((await run(['unblock', 'ada', ...one])).stdout).toMatch(/^done: /)
    expect(await run(['unblock', 'ada', ...one])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('nothing to unblock'),
    })
  })
})

it('top ends when nobody reads it any more, as by `| head`', async () => {
  const child = await startCli(['top', '--every', '100ms'], { REDIS_URL: redis.url })
  await once(child.stdout, 'data')
  child.stdout.destroy()
  await until(() => child.exitCode !== null, { what: 'the command has ended' })
  expect(child.exitCode).toBe(0)
})

// Linux alone has a device that is always full.
const itFull = existsSync('/dev/full') ? it : it.skip
itFull.each([
  ['top', '--once'],
  ['top', '--once', '--json'],
  ['inspect', 'client'],
  ['reset', 'client', '--yes'],
  ['policy', 'list'],
  ['help'],
])('output that can’t be written is an error: %s %s', async (...args) => {
  const given = args.filter((each) => each !== undefined)
  const env = { ...process.env, REDIS_URL: redis.url, DATABASE_URL: '' }
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [await cliFile(), ...given], {
    env,
    stdio: ['pipe', full, 'pipe'],
  })
  let said = ''
  child.stderr?.on('data', (text) => {
    said += text
  })
  const [code] = await once(child, 'close')
  closeSync(full)
  expect([code, said]).toEqual([1, expect.stringContaining('ENOSPC')])
})

it.each([
  ['top', '--once'],
  ['inspect', 'x'],
  ['reset', 'x', '--yes'],
])('a store that fails is an exit code of its own: %s', async (...args) => {
  const [port] = await freePorts(1)
  const nowhere = await sluice(args, `redis://127.0.0.1:${port}`)
  expect(nowhere).toMatchObject({ code: 4, stderr: expect.stringContaining('REFUSED') })
  await redis.command('ACL', 'SETUSER', 'blind', 'on', '>pw', '~*', '+@all', '-eval', '-evalsha')
  const blind = await sluice(args, redis.url.replace('redis://', 'redis://blind:pw@'))
  expect(blind).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('SLUICE_REDIS_FORBIDDEN'),
  })
  expect((await sluice([...args, '--prefix', '*'])).code).toBe(2)
  expect((await sluice([...args, '--redis', 'x'])).code).toBe(2)
})

it('what has been read so far can be seen, with how far the reading is', async () => {
  // A store of which each step takes long: the second half never comes.
  const { store } = connection
  const slow = {
    ...store,
    async *inspect(options: Parameters<typeof store.inspect>[0]) {
      for await (const entry of store.inspect(options)) {
        yield entry
        const began = performance.now()
        while (performance.now() - began < 1100);
        options?.onProgress?.({ looked: 500, unreadable: [] })
        await new Promise(() => {})
      }
    },
  }
  const shown = await new Promise((resolve) => {
    void new Ranker(slow, {}, 5).rank('share', new AbortController().signal, resolve)
  })
  expect(shown).toMatchObject({ isComplete: false, keys: 1, looked: 500, top: [{ key: 'client' }] })
})
