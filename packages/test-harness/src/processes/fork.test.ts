import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { startRedis } from '../redis/server.ts'
import { until } from '../redis/until.ts'
import { runInProcesses } from './fork.ts'

const worker = (name: string) => join(__dirname, 'workers', `${name}.ts`)

test('two processes share one Redis, and neither begins before both are ready', async () => {
  const redis = await startRedis()
  type Result = { pid: number; readyAt: number; begunAt: number; counts: number[] }
  const results = await runInProcesses<Result>(worker('counting'), 2, {
    url: redis.url,
    times: 150,
  })
  await redis.stop()

  expect(new Set(results.map(({ pid }) => pid)).size).toBe(2)
  const lastReady = Math.max(...results.map(({ readyAt }) => readyAt))
  for (const { begunAt } of results) expect(begunAt).toBeGreaterThanOrEqual(lastReady)
  const counts = results.flatMap((result) => result.counts)
  expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, i) => i + 1))
})

test('workers go on while this process kills Redis and brings it back', async () => {
  const redis = await startRedis()
  type Counts = { before: number; failed: number; after: number }
  const results = runInProcesses<Counts>(worker('loading'), 2, { port: redis.port })
  const underLoad = async () => Number(await redis.command('GET', 'count')) > 100
  await until(underLoad, { what: 'the workers make load' })
  await redis.kill()
  await redis.restart()
  for (const { before, failed, after } of await results)
    expect([before > 0, failed > 0, after]).toEqual([true, true, 10])
  await redis.stop()
})

test('what a worker throws is thrown here', async () => {
  const run = runInProcesses(worker('failing'), 2, { how: 'throws' })
  await expect(run).rejects.toThrow('in a worker: Error: thrown in the worker')
})

test('a worker that ends by itself is an error with what it printed', async () => {
  const run = runInProcesses(worker('failing'), 2, { how: 'exits' })
  await expect(run).rejects.toThrow(/ended \(7\) before its result:\n.*last words/s)
})

test('a run is bounded', async () => {
  const run = runInProcesses(worker('failing'), 1, { how: 'hangs' }, { withinMs: 1_000 })
  await expect(run).rejects.toThrow('did not finish within 1000 ms')
})

test('a Redis whose test process is killed dies too, paused or not, and its folder goes', async () => {
  type Left = { port: number; folder: string }
  // A worker is ended by SIGKILL as soon as its result is here.
  const left = (await runInProcesses<Left[]>(worker('orphaning'), 1, {})).flat()
  expect(left).toHaveLength(2)
  for (const { port, folder } of left) {
    await until(() => refuses(port), { what: `port ${port} is closed` })
    await until(() => !existsSync(folder), { what: `${folder} is gone` })
  }
})

/** A paused server still accepts connections: only an ended one refuses them. */
function refuses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(true))
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
  })
}
