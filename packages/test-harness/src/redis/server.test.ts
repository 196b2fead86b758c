import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Redis } from 'ioredis'
import { freePorts } from './ports.ts'
import { launch, PortTakenError, terminate } from './process.ts'
import { type RedisServer, startRedis } from './server.ts'
import { until } from './until.ts'

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function folderOf(redis: RedisServer): Promise<string> {
  const [, folder] = (await redis.command('CONFIG', 'GET', 'dir')) as string[]
  return folder!
}

describe('one server', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  test('answers on its loopback port, without persistence', async () => {
    expect(redis.url).toBe(`redis://127.0.0.1:${redis.port}`)
    expect(await redis.command('PING')).toBe('PONG')
    expect(await redis.command('CONFIG', 'GET', 'save')).toEqual(['save', ''])
    expect(await redis.info('server')).toMatchObject({
      process_id: String(redis.pid),
      tcp_port: String(redis.port),
    })
  })

  test('counts the calls of the test and no others', async () => {
    await redis.command('CONFIG', 'RESETSTAT')
    for (let i = 0; i < 3; i++) await redis.command('SET', `key ${i}`, i)
    const stats = await redis.commandStats()
    const names = Object.keys(stats).filter((name) => !/^config\b/.test(name))
    expect(names).toEqual(['set'])
    expect(stats.set!.calls).toBe(3)
    expect(stats.set!.usec).toBeGreaterThan(0)
  })

  test('measures CPU time in microseconds', async () => {
    // A script that is stalled takes longer than its CPU time: then another is measured.
    const agree = async () => {
      await redis.command('CONFIG', 'RESETSTAT')
      const before = await redis.cpuMicros()
      await redis.command('EVAL', 'for i = 1, 2e6 do local x = i % 7 end', 0)
      const script = (await redis.commandStats()).eval!.usec
      const spent = (await redis.cpuMicros()) - before
      return spent > script / 10 && spent < script * 10
    }
    await until(agree, { what: 'the CPU time agrees with that of the script' })
  })

  test('a frozen server is silent; after it resumes it answers what it was sent meanwhile', async () => {
    redis.pause()
    let answered = false
    const reply = redis.command('PING').then((pong) => {
      answered = true
      return pong
    })
    // A second server's start and stop is time enough for an answer.
    const other = await startRedis()
    await other.stop()
    expect(answered).toBe(false)
    redis.resume()
    expect(await reply).toBe('PONG')
  })
})

test('two servers have their own ports and data', async () => {
  const [one, other] = await Promise.all([startRedis(), startRedis()])
  expect(one.port).not.toBe(other.port)
  await one.command('SET', 'key', 'value')
  expect(await other.command('EXISTS', 'key')).toBe(0)
  await Promise.all([one.stop(), other.stop()])
})

test('further arguments win', async () => {
  const redis = await startRedis({ args: ['--maxmemory', '3mb', '--databases', '2'] })
  expect(await redis.command('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', '3145728'])
  await redis.stop()
})

test('a user of the ACL and a full memory can be had by arguments', async () => {
  const user = ['--user', 'limited', 'on', 'nopass', '~*', '+@all', '-eval']
  const memory = ['--maxmemory', '2mb', '--maxmemory-policy', 'noeviction']
  const redis = await startRedis({ args: [...user, ...memory] })
  const limited = new Redis(redis.url, { username: 'limited', password: 'any' })
  expect(await limited.get('key')).toBe(null)
  await expect(limited.eval('return 1', 0)).rejects.toThrow(/no permissions/)
  limited.disconnect()
  await redis.command('SETRANGE', 'key', 4_000_000, 'x')
  await expect(redis.command('SET', 'other', 'value')).rejects.toThrow(/^OOM/)
  await redis.stop()
})

test('an argument that the server refuses is an error with its words', async () => {
  await expect(startRedis({ args: ['--no-such-directive', '1'] })).rejects.toThrow(
    /no-such-directive/,
  )
})

describe('stop leaves no process and no folder', () => {
  test.each<[string, (redis: RedisServer) => unknown]>([
    ['running', () => {}],
    ['paused', (redis) => redis.pause()],
    ['killed', (redis) => redis.kill()],
    // It handles SIGTERM only between commands.
    [
      'stuck in a script',
      (redis) => void redis.command('EVAL', 'while true do end', 0).catch(() => {}),
    ],
  ])('%s', async (_, bring) => {
    const redis = await startRedis()
    const folder = await folderOf(redis)
    expect([isAlive(redis.pid), existsSync(folder)]).toEqual([true, true])
    await bring(redis)
    await redis.stop()
    expect([isAlive(redis.pid), existsSync(folder)]).toEqual([false, false])
    await expect(redis.command('PING')).rejects.toThrow()
  })
})

test('a paused server ends by itself, not by the SIGKILL that comes after two seconds', async () => {
  const [port] = (await freePorts(1)) as [number]
  const redis = await launch(['--port', `${port}`, '--save', ''], tmpdir(), port)
  redis.signal('SIGSTOP')
  await terminate(redis)
  expect(redis.log()).toContain('bye bye')
})

describe('restart', () => {
  test.each([
    ['forgets the data', false, null],
    ['keeps the data when asked', true, 'value'],
  ])('%s, on the same port', async (_, keepData, expected) => {
    const redis = await startRedis()
    const { port, pid } = redis
    await redis.command('SET', 'key', 'value')
    await redis.restart({ keepData })
    expect(redis.port).toBe(port)
    expect(redis.pid).not.toBe(pid)
    expect(isAlive(pid)).toBe(false)
    expect(await redis.command('GET', 'key')).toBe(expected)
    await redis.stop()
  })

  test('keeps of a killed server what it had saved, and loses the rest', async () => {
    const redis = await startRedis()
    await redis.command('SET', 'key', 'saved')
    await redis.command('SAVE')
    await redis.command('SET', 'key', 'lost')
    await redis.kill()
    await redis.restart({ keepData: true })
    expect(await redis.command('GET', 'key')).toBe('saved')
    await redis.stop()
  })

  test.each([
    ['keeps all', true, 'value'],
    ['forgets all', false, null],
  ])('%s of a killed server with an append-only file', async (_, keepData, expected) => {
    const redis = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
    await redis.command('SET', 'key', 'value')
    await redis.kill()
    await redis.restart({ keepData })
    expect(await redis.command('GET', 'key')).toBe(expected)
    await redis.stop()
  })

  test('forgets what an earlier restart has kept', async () => {
    const redis = await startRedis()
    await redis.command('SET', 'key', 'value')
    await redis.restart({ keepData: true })
    await redis.restart()
    expect(await redis.command('EXISTS', 'key')).toBe(0)
    await redis.stop()
  })

  test('brings a killed or paused server back', async () => {
    const redis = await startRedis()
    await redis.kill()
    await redis.restart()
    redis.pause()
    await redis.restart()
    expect(await redis.command('PING')).toBe('PONG')
    await redis.stop()
  })
})

describe('a port that somebody took in between', () => {
  test('is replaced by another', async () => {
    const squatter = await startRedis()
    const offers = [[squatter.port], await freePorts(1)]
    const redis = await startRedis({}, async () => offers.shift()!)
    expect(offers).toEqual([])
    expect(redis.port).not.toBe(squatter.port)
    await Promise.all([redis.stop(), squatter.stop()])
  })

  test('is not mistaken for the own one when another Redis answers there', async () => {
    const first = await startRedis()
    await expect(startRedis({ port: first.port })).rejects.toThrow(PortTakenError)
    expect(await first.command('PING')).toBe('PONG')
    await first.stop()
  })
})
