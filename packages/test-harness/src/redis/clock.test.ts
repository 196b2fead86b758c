import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { describeUnless } from '../jest/index.ts'
import { runInProcesses } from '../processes/fork.ts'
import { faketimeLibrary, whyNoClock } from './clock.ts'
import { type RedisServer, startRedis } from './server.ts'
import { until } from './until.ts'

const HOUR = 3_600_000

/** libfaketime shares the time between the processes of a server, under its process id. */
function sharedMemoryOf(pid: number): string[] {
  return readdirSync('/dev/shm').filter((name) => name.endsWith(`_${pid}`))
}

/** How far the server's TIME is ahead of this machine's, in milliseconds. */
async function aheadOf(redis: RedisServer): Promise<number> {
  const [seconds] = (await redis.command('TIME')) as [string]
  return Number(seconds) * 1_000 - Date.now()
}

describeUnless(whyNoClock(), 'a server with a clock of its own', () => {
  test('steps an hour ahead and back, and keys expire by it', async () => {
    const redis = await startRedis({ clockOffsetMs: 0 })
    const alive = (key: string) => redis.command('EXISTS', key)
    for (const key of ['minute', 'day'])
      await redis.command('SET', key, 'value', 'PX', key === 'day' ? 24 * HOUR : 60_000)
    expect(Math.abs(await aheadOf(redis))).toBeLessThan(5_000)
    expect(await alive('minute')).toBe(1)

    await redis.setClock(HOUR)
    expect(Math.abs((await aheadOf(redis)) - HOUR)).toBeLessThan(5_000)
    expect([await alive('minute'), await alive('day')]).toEqual([0, 1])
    await redis.command('SET', 'minute', 'again', 'PX', 60_000)

    await redis.setClock(-HOUR)
    expect(Math.abs((await aheadOf(redis)) + HOUR)).toBeLessThan(5_000)
    expect(Number(await redis.command('PTTL', 'minute'))).toBeGreaterThan(2 * HOUR)
    const script = "return redis.call('TIME')[1]"
    const inScript = Number(await redis.command('EVAL', script, 0)) * 1_000
    expect(Math.abs(inScript - Date.now() + HOUR)).toBeLessThan(5_000)
    await redis.stop()
  })

  test('starts with its offset, and keeps it through a restart', async () => {
    const redis = await startRedis({ clockOffsetMs: -HOUR })
    await redis.command('SET', 'key', 'value', 'PX', 60_000)
    await redis.restart({ keepData: true })
    expect(Math.abs((await aheadOf(redis)) + HOUR)).toBeLessThan(5_000)
    expect(await redis.command('EXISTS', 'key')).toBe(1)
    await redis.stop()
  })

  test('leaves nothing behind when it is killed, and when it stops', async () => {
    const redis = await startRedis({ clockOffsetMs: 0 })
    const killed = redis.pid
    expect(sharedMemoryOf(killed)).toHaveLength(2)
    await redis.kill()
    expect(sharedMemoryOf(killed)).toEqual([])
    await redis.restart()
    await redis.stop()
    expect(sharedMemoryOf(redis.pid)).toEqual([])
  })

  test('leaves nothing behind when its test process is killed', async () => {
    const script = join(__dirname, '../processes/workers/orphaning.ts')
    const left = await runInProcesses<{ pid: number }[]>(script, 1, { clockOffsetMs: 0 })
    const gone = () => left.flat().every(({ pid }) => sharedMemoryOf(pid).length === 0)
    await until(gone, { what: 'the shared memory of both servers is gone' })
  })
})

test('another server has no clock to set', async () => {
  const redis = await startRedis()
  await expect(redis.setClock(HOUR)).rejects.toThrow('started with clockOffsetMs')
  await redis.stop()
})

test('what crashes under libfaketime has no clock to set, what ends by itself has', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-crash-'))
  const crashing = join(folder, 'redis-server')
  const noted = join(folder, 'pid')
  writeFileSync(crashing, `#!/bin/sh\necho $$ > ${noted}\nkill -ABRT $$\n`, { mode: 0o755 })
  expect(whyNoClock(crashing)).toBe('the server ends by SIGABRT under libfaketime')
  expect(sharedMemoryOf(Number(readFileSync(noted, 'utf8')))).toEqual([])
  writeFileSync(crashing, '#!/bin/sh\n[ -z "$LD_PRELOAD" ] && kill -ABRT $$\nexit 1\n')
  expect(whyNoClock(crashing)).toBeUndefined()
  rmSync(folder, { recursive: true })
})

describe('libfaketime', () => {
  test('is LIBFAKETIME, or found in the folder of an architecture', () => {
    const root = mkdtempSync(join(tmpdir(), 'sluice-faketime-'))
    const folder = join(root, 'lib', 'any-linux-gnu', 'faketime')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'libfaketimeMT.so.1'), '')
    expect(faketimeLibrary({}, root)).toBe(join(folder, 'libfaketimeMT.so.1'))
    expect(faketimeLibrary({ LIBFAKETIME: process.execPath }, root)).toBe(process.execPath)
    rmSync(root, { recursive: true })
  })

  test.each([{}, { LIBFAKETIME: '/nowhere/libfaketime.so' }])(
    'absent (%j) is an error that says how to get it',
    (env) => {
      expect(() => faketimeLibrary(env, '/nowhere')).toThrow(/install it .* or set LIBFAKETIME/)
    },
  )
})
