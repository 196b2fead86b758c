// npm run bench -- inspect: how long it takes to read a million keys, how long Redis is busy with it at a time, and
// the memory of the process that reads. `--keys 10000` measures less.

import { parseArgs } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { install } from '../processes/install.ts'
import { runTask } from '../processes/run-task.ts'
import { beginReport } from '../report/print.ts'
import type { Swept } from './sweep.script.ts'

const { values } = parseArgs({ options: { keys: { type: 'string', default: '1000000' } } })
const keys = Number(values.keys)

const WINDOW_MS = 86_400_000
const BATCH = 10_000

/** Sets the states of a sliding window, as the script would. */
async function fill(redis: Redis): Promise<void> {
  const state = Buffer.alloc(32)
  state.writeDoubleLE(Math.floor(Date.now() / WINDOW_MS), 0)
  state.writeDoubleLE(Date.now() + WINDOW_MS, 24)
  for (let from = 0; from < keys; from += BATCH) {
    const batch = redis.pipeline()
    for (let i = from; i < Math.min(from + BATCH, keys); i += 1) {
      state.writeDoubleLE(i % 100, 16)
      const name = `sluice:{user:${i}}:sliding-window:${WINDOW_MS}:100:default`
      batch.set(name, Buffer.from(state), 'PX', WINDOW_MS)
    }
    await batch.exec()
  }
}

const print = beginReport()
await install()
const server = await startRedis({ args: ['--save', ''] })
const redis = new Redis(server.url)
try {
  await fill(redis)
  await redis.config('RESETSTAT')
  const { seconds, read, rss } = await runTask<Swept>('inspect/sweep', server.url)
  const stats = await server.commandStats()
  const latencies = await redis.info('latencystats')
  const commands = ['scan', 'evalsha'].map((name) => {
    const [, percentiles] = new RegExp(`percentiles_usec_${name}:(.*)`).exec(latencies) ?? []
    return `${name}: ${JSON.stringify(stats[name])}, ${percentiles?.trim()} µs`
  })
  await print([
    `read ${read} keys in ${seconds.toFixed(1)} s; the process had ${rss.toFixed(0)} MB`,
    ...commands,
  ])
} finally {
  redis.disconnect()
  await server.stop()
}
