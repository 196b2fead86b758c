// node scripts/test-servers.mjs ARGUMENT...: plays the tests of the remote stores on other servers, each
// argument the path of a Redis, Valkey, PostgreSQL, MariaDB or MySQL binary, and those of the Redis store on other
// versions of Node, as `node@24`. Prints the tables in docs/compatibility.md.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { argv, exit, version } from 'node:process'
import { ensureInstalled } from './install.mjs'
import { jest } from './jest.mjs'
import { findFaketime } from './programs/faketime.mjs'
import { otherNode } from './programs/node.mjs'
import { findRedis } from './programs/redis.mjs'
import { root } from './workspace.mjs'

const REDIS = {
  tests: ['packages/core/src/stores/redis', 'packages/test-harness/src/redis/clock.test.ts'],
  clientsOf: 'core',
  clients: [
    ...['ioredis', 'ioredis5', 'redis', 'redis5', 'iovalkey', '@valkey/valkey-glide'],
    '@upstash/redis',
  ],
}
const POSTGRES = {
  tests: ['packages/postgres'],
  clientsOf: 'postgres',
  clients: ['pg', 'postgres'],
}
const MYSQL = { tests: ['packages/mysql'], clientsOf: 'mysql', clients: ['mysql2'] }

const output = (command, args) => execFileSync(command, args, { encoding: 'utf8' }).trim()

const isPostgres = (binary) => basename(binary) === 'postgres'
const isMysql = (binary) => ['mariadbd', 'mysqld'].includes(basename(binary))

/** `Valkey 9.1.2`: not every version says by itself which of the two it is. */
function serverName(binary) {
  const said = output(binary, ['--version'])
  if (isPostgres(binary)) return `PostgreSQL ${/ ([\d.]+)/.exec(said)[1]}`
  if (isMysql(binary))
    return /mariadb/i.test(said)
      ? `MariaDB ${/ ([\d.]+)-/.exec(said)[1]}`
      : `MySQL ${/ ([\d.]+)/.exec(said)[1]}`
  const name = basename(binary).startsWith('valkey') ? 'Valkey' : 'Redis'
  return `${name} ${/\bv=([\d.]+)/.exec(said)[1]}`
}

/** @returns What to play on, and how the table calls it. */
function setting(argument, redis) {
  if (!argument.startsWith('node@')) {
    const named = { server: serverName(argument), node: version }
    if (isPostgres(argument))
      return { ...named, plays: POSTGRES, env: { REDIS_SERVER: redis, POSTGRES_SERVER: argument } }
    if (isMysql(argument))
      return { ...named, plays: MYSQL, env: { REDIS_SERVER: redis, MYSQL_SERVER: argument } }
    return { ...named, plays: REDIS, env: { REDIS_SERVER: argument } }
  }
  const node = otherNode(argument)
  if (node === undefined) throw new Error(`npm cannot bring ${argument} here`)
  return {
    server: serverName(redis),
    node: node.version,
    plays: REDIS,
    env: { REDIS_SERVER: redis, PATH: node.path },
  }
}

function clientVersions({ clientsOf, clients }) {
  return clients.map((name) => clientVersion(clientsOf, name)).join(', ')
}

function clientVersion(clientsOf, name) {
  const file = join(root, 'packages', clientsOf, 'node_modules', name, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  return `${manifest.name} ${manifest.version}`
}

const settings = argv.slice(2)
if (settings.length === 0) {
  console.error(
    'Name the servers: node scripts/test-servers.mjs /path/to/valkey-server … node@24 …',
  )
  exit(2)
}
const redis = await findRedis()
await findFaketime()
await ensureInstalled()

const rows = ['| server | Node | passed | failed | skipped |', '|---|---|---|---|---|']
const played = new Set()
let anyFailed = false
for (const argument of settings) {
  const on = setting(argument, redis)
  console.log(`${on.server} on Node ${on.node}`)
  const { passed, failed, skipped } = await jest(['--maxWorkers=1', ...on.plays.tests], on.env)
  anyFailed ||= failed > 0 || passed === 0
  const skippedCount = [...skipped.values()].reduce((sum, each) => sum + each, 0)
  rows.push(`| ${on.server} | ${on.node.slice(1)} | ${passed} | ${failed} | ${skippedCount} |`)
  played.add(on.plays)
}
console.log(`\n${rows.join('\n')}\n\nClients: ${[...played].map(clientVersions).join(', ')}`)
exit(anyFailed ? 1 : 0)
