import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { redisBinary } from '@sluice/test-harness/redis'
import { home } from './processes/bundle.ts'

const PACKAGES = [
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

/** In place of the version of what is not there. */
export const MISSING = 'none'

export function machine(): { [fact: string]: string } {
  const [first] = cpus()
  return {
    CPU: `${cpus().length} × ${first?.model.trim()}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    system: `${type()} ${release()}`,
  }
}

export async function versions(): Promise<{ [software: string]: string }> {
  return {
    Node: process.versions.node,
    Redis: await versionOf(redisBinary(), ['--version'], /v=(\S+)/),
    // It prints its version with its usage, and ends with 1.
    wrk: await versionOf('wrk', ['-v'], /wrk (\S+)/),
    ...Object.fromEntries(PACKAGES.map((name) => [name, packageVersion(name)])),
  }
}

function packageVersion(name: string): string {
  const manifest = readFileSync(join(home, 'node_modules', name, 'package.json'), 'utf8')
  return JSON.parse(manifest).version
}

async function versionOf(command: string, args: string[], pattern: RegExp): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args).catch((error) => error)
  return pattern.exec(String(stdout))?.[1] ?? MISSING
}
