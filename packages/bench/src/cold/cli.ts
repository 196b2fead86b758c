// npm run bench -- cold: the CPU that a process takes to import each adapter, beside its peer, and to import,
// connect and decide once on Redis. Each is a new process, and they alternate. Prints a table, and writes no file.
// `--rounds 5` measures less.

import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { install, installed } from '../processes/install.ts'
import { ready, runRounds } from '../processes/rounds.ts'
import { measurementOf } from '../report/measurement.ts'
import { beginReport } from '../report/print.ts'

/** Each adapter, and the peer that it is held against. */
const PAIRS = [
  ['@sluice/express', 'express-rate-limit'],
  ['@sluice/fastify', '@fastify/rate-limit'],
  ['@sluice/koa', 'koa-ratelimit'],
  ['@sluice/hono', 'hono-rate-limiter'],
  ['@sluice/core', 'rate-limiter-flexible'],
]
const NAMES = PAIRS.flat()

const DECISIONS = {
  '@sluice/core, one decision on Redis': `const { createLimiter } = await import('@sluice/core')
    const limiter = createLimiter({ store: client, limit: 100, window: '1m', deadline: '30s' })
    await limiter.consume('a')`,
  'rate-limiter-flexible, one decision on Redis': `const { RateLimiterRedis } = await import('rate-limiter-flexible')
    const limiter = new RateLimiterRedis({ storeClient: client, points: 100, duration: 60 })
    await limiter.consume('a')`,
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } })
const print = beginReport()
await install()
const redis = await startRedis()
try {
  const connecting = (decide: string) =>
    `const { Redis } = await import('ioredis'); const client = new Redis('${redis.url}'); ${decide}; client.disconnect()`
  const contests = [
    ...NAMES.map((name) => ready(name, () => cpuMs(`await import('${name}')`))),
    ...Object.entries(DECISIONS).map(([name, decide]) =>
      ready(name, () => cpuMs(connecting(decide))),
    ),
  ]
  const samples = await runRounds(contests, { starts: 1, rounds: Number(values.rounds) })
  const title = 'CPU of a process, without its own start'
  const peers = PAIRS.map(([, peer]) => peer as string)
  await print([measurementOf(samples, { title, unit: 'ms' }, (ms) => ms)], [...peers, 'ioredis'])
} finally {
  await redis.stop()
}

/** The CPU time of a new process for the work alone. */
async function cpuMs(work: string): Promise<number> {
  const measured = `const before = process.cpuUsage(); ${work}
    const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000)`
  const args = ['--input-type=module', '--eval', measured]
  return Number(execFileSync(process.execPath, args, { cwd: installed, encoding: 'utf8' }))
}
