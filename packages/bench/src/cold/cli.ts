// npm run bench -- cold: the CPU that a process takes to import each adapter, beside its peer, and to import,
// connect and decide once on Redis. Each is a new process, and they alternate. Prints a table, and writes no file.
// `--rounds 5` measures less.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { markdownTable } from 'markdown-table'
import { machine } from '../environment.ts'
import { home } from '../processes/bundle.ts'
import { installed } from '../replay/installed.ts'
import { facts } from '../report/tables.ts'
import { quantile } from '../statistics/quartiles.ts'

/** Each adapter, and the peer that it is held against. */
const PAIRS = [
  ['@sluice/express', 'express-rate-limit'],
  ['@sluice/fastify', '@fastify/rate-limit'],
  ['@sluice/koa', 'koa-ratelimit'],
  ['@sluice/hono', 'hono-rate-limiter'],
  ['@sluice/core', 'rate-limiter-flexible'],
] as const
const PEERS = [...PAIRS.map(([, peer]) => peer), 'hono', 'ioredis']

const importing = (name: string) => `await import('${name}')`

const DECISIONS = {
  '@sluice/core, one decision on Redis': `const { createLimiter } = await import('@sluice/core')
    const limiter = createLimiter({ store: client, limit: 100, window: '1m', deadline: '30s' })
    await limiter.consume('a')`,
  'rate-limiter-flexible, one decision on Redis': `const { RateLimiterRedis } = await import('rate-limiter-flexible')
    const limiter = new RateLimiterRedis({ storeClient: client, points: 100, duration: 60 })
    await limiter.consume('a')`,
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } })
const before = machine()
const folder = mkdtempSync(join(tmpdir(), 'sluice-cold-'))
const redis = await startRedis()
try {
  install()
  const connecting = (decide: string) =>
    `const { Redis } = await import('ioredis'); const client = new Redis('${redis.url}'); ${decide}; client.disconnect()`
  const works = new Map<string, string>([
    ...PAIRS.flat().map((name) => [name, importing(name)] as const),
    ...Object.entries(DECISIONS).map(([name, decide]) => [name, connecting(decide)] as const),
  ])
  const samples = new Map([...works.keys()].map((name) => [name, [] as number[]]))
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const [name, work] of works) samples.get(name)?.push(cpuMs(work))
  const rows = [...samples].map(([name, each]) => [name, best(each), lowerQuartile(each)])
  console.log(facts({ ...before, 'load after': machine()['load before'] as string }))
  const align = ['l', 'r', 'r']
  console.log(`\n${markdownTable([['CPU, ms', 'best', 'lower quartile'], ...rows], { align })}`)
} finally {
  await redis.stop()
  rmSync(folder, { recursive: true })
}

/** Our packages as they are published, and the peers as they are installed. */
function install(): void {
  const modules = installed(folder, ['core', 'http', 'express', 'fastify', 'koa', 'hono'])
  for (const name of PEERS) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(home, 'node_modules', name), join(modules, name))
  }
}

/** The CPU time of a new process for the work alone, without its own start. */
function cpuMs(work: string): number {
  const measured = `const before = process.cpuUsage(); ${work}
    const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000)`
  const args = ['--input-type=module', '--eval', measured]
  return Number(execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }))
}

function best(samples: readonly number[]): string {
  return Math.min(...samples).toFixed(1)
}

function lowerQuartile(samples: readonly number[]): string {
  return quantile(samples, 0.25).toFixed(1)
}
