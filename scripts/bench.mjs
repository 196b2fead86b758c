// npm run bench: builds the packages and measures them and their peers.
// npm run bench -- memory|redis|cluster|http: a part of this
// npm run bench -- cold|settling|postgres|mysql|dynamodb|sqlite|replay|calls|held|inspect|leases|outgoing|overload: one of the other benches, with its arguments

import { argv, exit } from 'node:process'
import { build } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { findMysql } from './programs/mysql.mjs'
import { otherNode } from './programs/node.mjs'
import { findPostgres } from './programs/postgres.mjs'
import { findRedis } from './programs/redis.mjs'
import { run } from './workspace.mjs'

/** The benches beside the comparison with the peers, each in a folder of packages/bench/src. */
const BENCHES = {
  cold: {},
  settling: {},
  leases: {},
  postgres: { folder: 'databases', needs: findPostgres },
  mysql: { folder: 'databases', needs: findMysql },
  dynamodb: { folder: 'databases' },
  // Where this Node has no SQLite, npm brings one.
  sqlite: { node: 'node@24', has: 'node:sqlite' },
  replay: {},
  calls: { measures: 'src' },
  held: { measures: 'src', needs: findPostgres },
  inspect: {},
  outgoing: {},
  overload: {},
}

const [name, ...rest] = argv.slice(2)
const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : { folder: '.' }
const { folder = name, measures = 'dist', needs, node, has } = bench
const redis = await findRedis()
await needs?.()
await ensureInstalled()
if (measures === 'dist' && !(await build())) exit(1)
const args = folder === name ? rest : argv.slice(2)
const other = has && !process.getBuiltinModule(has) ? otherNode(node) : undefined
const env = { REDIS_SERVER: redis, ...(other && { PATH: other.path }) }
exit(await run('tsx', [`packages/bench/src/${folder}/cli.ts`, ...args], { env }))
