// An empty project that installs the tarballs, as a user does, and what they work with.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What an application that uses all packages has. */
export const PEERS = [
  'express@5',
  '@types/express@5',
  'fastify@5',
  'koa@3',
  '@types/koa@3',
  'hono@4',
  '@hono/node-server@2',
  '@aws-sdk/lib-dynamodb@3',
  'ioredis@6',
  'pg@8',
  '@types/pg@8',
  ...['common', 'core', 'platform-express', 'platform-fastify'].map((name) => `@nestjs/${name}@12`),
  'reflect-metadata@0.2',
  'rxjs@7',
  '@modelcontextprotocol/server@2',
  '@opentelemetry/api@~1.9.0',
  '@opentelemetry/sdk-metrics@2',
]

export function install(project, packed) {
  const npm = (...args) =>
    execFileSync('npm', args, { cwd: project, stdio: ['ignore', 'ignore', 2] })
  npm('init', '-y')
  const tarballs = packed.map(({ path }) => path)
  npm('install', '--no-audit', '--no-fund', '--prefer-offline', ...PEERS, ...tarballs)
}

const SMOKE = `
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
const found = {}
for (const name of NAMES)
  found[name] = [Object.keys(await import(name)), Object.keys(require(name))].map(({ length }) => length)
for (const { createLimiter } of [await import('@sluice/core'), require('@sluice/core')]) {
  const limiter = createLimiter({ limit: 2, window: '1d' })
  found.limits = [1, 2, 3].map(() => limiter.consume('a').allowed).join()
}
console.log(JSON.stringify(found))
`

/** How a project runs the command of a package. */
const directly = (name, [, file]) => [process.execPath, join('node_modules', name, file)]

const HERE = { node: process.execPath, env: process.env, commandOf: directly }

/** @returns one line for each package that does not work in the project */
export function smokeTest(project, packed, { node, env, commandOf } = HERE) {
  const names = packed
    .filter(({ manifest }) => manifest.exports)
    .map(({ manifest }) => manifest.name)
  writeFileSync(join(project, 'smoke.mjs'), SMOKE.replace('NAMES', JSON.stringify(names)))
  const run = (command, ...args) =>
    execFileSync(command, args, { cwd: project, env, encoding: 'utf8' })
  const { limits, ...exported } = JSON.parse(run(node, 'smoke.mjs'))
  const problems = Object.entries(exported)
    .filter(([, [esm, cjs]]) => esm === 0 || cjs === 0)
    .map(([name]) => `${name}: exports nothing`)
  if (limits !== 'true,true,false') problems.push(`@sluice/core: admits ${limits} of 2`)
  for (const { name, bin } of packed.map(({ manifest }) => manifest).filter(({ bin }) => bin)) {
    const help = run(...commandOf(name, Object.entries(bin)[0]), '--help')
    if (!help.includes('Examples:') && !help.includes('Commands:'))
      problems.push(`${name}: prints no help`)
  }
  return problems
}
