import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { redisBinary } from '@sluice/test-harness/redis'
import { home } from './processes/install.ts'

/** What the comparison with the peers consists of. */
export const PACKAGES = [
  '@sluice/core',
  'express-rate-limit',
  'rate-limit-redis',
  '@fastify/rate-limit',
  'koa-ratelimit',
  'rate-limiter-flexible',
  'express',
  'fastify',
  'koa',
  'ioredis',
]

export function machine(): { [fact: string]: string } {
  const [first] = cpus()
  return {
    CPU: `${cpus().length} × ${first?.model.trim()}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    system: `${type()} ${release()}`,
    // Processes that ran or waited during the last minute: an idle machine has about 0.
    'load before': (loadavg()[0] as number).toFixed(1),
  }
}

export async function versionsOf(
  packages: readonly string[],
): Promise<{ [software: string]: string }> {
  return {
    Node: process.versions.node,
    Redis: await redisVersion(),
    ...Object.fromEntries(packages.map((name) => [name, packageVersion(name)])),
  }
}

function packageVersion(name: string): string {
  const manifest = readFileSync(join(home, 'node_modules', name, 'package.json'), 'utf8')
  return JSON.parse(manifest).version
}

async function redisVersion(): Promise<string> {
  const { stdout } = await promisify(execFile)(redisBinary(), ['--version'])
  return /v=(\S+)/.exec(stdout)?.[1] ?? stdout
}
