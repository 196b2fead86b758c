// npm run test:servers -- ARGUMENT...: plays the tests of the Redis store on other servers, each
// argument the path of a Redis or Valkey binary, and on other versions of Node, as `node@24`. Prints
// the table in docs/compatibility.md.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { argv, env, exit, version } from 'node:process'
import { findFaketime } from './faketime.mjs'
import { ensureInstalled } from './install.mjs'
import { jest } from './jest.mjs'
import { findRedis } from './redis.mjs'
import { root } from './workspace.mjs'

const TESTS = ['packages/core/src/stores/redis', 'packages/test-harness/src/redis/clock.test.ts']
const CLIENTS = ['ioredis', 'ioredis5', 'redis', 'redis5', 'iovalkey', '@valkey/valkey-glide']

const output = (command, args) => execFileSync(command, args, { encoding: 'utf8' }).trim()

/** `Valkey 9.1.2`: not every version says by itself which of the two it is. */
function serverName(binary) {
  const name = basename(binary).startsWith('valkey') ? 'Valkey' : 'Redis'
  return `${name} ${/\bv=([\d.]+)/.exec(output(binary, ['--version']))[1]}`
}

/** The Node that the npm package of this name and version brings. */
function nodeOf(wanted) {
  return output('npm', [
    'exec',
    '--yes',
    `--package=${wanted}`,
    '--',
    'node',
    '-p',
    'process.execPath',
  ])
}

/** @returns What to play on, and how the table calls it. */
function setting(argument, redis) {
  if (!argument.startsWith('node@'))
    return { server: serverName(argument), node: version, env: { REDIS_SERVER: argument } }
  const node = nodeOf(argument)
  const path = [join(root, 'node_modules', '.bin'), dirname(node), env.PATH].join(delimiter)
  return {
    server: serverName(redis),
    node: output(node, ['--version']),
    env: { REDIS_SERVER: redis, PATH: path },
  }
}

function clientVersion(name) {
  const file = join(root, 'packages', 'core', 'node_modules', name, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  return `${manifest.name} ${manifest.version}`
}

const settings = argv.slice(2)
if (settings.length === 0) {
  console.error('Name the servers: npm run test:servers -- /path/to/valkey-server … node@24 …')
  exit(2)
}
const redis = await findRedis()
await findFaketime()
await ensureInstalled()

const rows = ['| server | Node | passed | failed | skipped |', '|---|---|---|---|---|']
let anyFailed = false
for (const argument of settings) {
  const on = setting(argument, redis)
  console.log(`${on.server} on Node ${on.node}`)
  const { passed, failed, skipped } = await jest(['--maxWorkers=1', ...TESTS], on.env)
  anyFailed ||= failed > 0 || passed === 0
  rows.push(`| ${on.server} | ${on.node.slice(1)} | ${passed} | ${failed} | ${skipped} |`)
}
console.log(`\n${rows.join('\n')}\n\nClients: ${CLIENTS.map(clientVersion).join(', ')}`)
exit(anyFailed ? 1 : 0)
