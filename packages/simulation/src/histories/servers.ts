import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DynamodbStore } from '@sluice/dynamodb'
import { mysqlStore } from '@sluice/mysql'
import { postgresStore } from '@sluice/postgres'
import { startDynamodb } from '@sluice/test-harness/dynamodb'
import { startMysql } from '@sluice/test-harness/mysql'
import { startPostgres } from '@sluice/test-harness/postgres'
import { type RedisServer, startCluster, startRedis, until } from '@sluice/test-harness/redis'
import { createPool } from 'mysql2/promise'
import pg from 'pg'
import type { Loss, Outage } from './history.ts'
import { KEYS, LONGEST, prefixOf } from './keys.ts'
import { DEADLINE_MS, monotonic, type StoreClock } from './log.ts'
import { type Address, openStore } from './open-store.ts'

/** A store that processes ask, and that can be made to fail. */
export interface Server {
  readonly address: Address
  readonly clock: StoreClock
  /** Whether it has nothing more to carry out for a process that was killed, by the name of its connections. */
  isGone(name: string): Promise<boolean>
  /**
   * Kills it, and lets it come back.
   *
   * @param asked resolves when processes have been answered for a while
   * @returns by the keys that it concerned: when it was down and, if it may have lost something, what
   */
  fail(asked: () => Promise<void>): Promise<ReadonlyMap<string, Outage | Loss>>
  stop(): Promise<void>
}

/** The stores of which histories are recorded. */
export const servers: { readonly [name: string]: () => Promise<Server> } = {
  redis,
  cluster,
  postgres,
  mysql,
  dynamodb,
  sqlite,
}

/** With an append-only file, which is written before the answers are: kill -9 loses nothing. */
async function redis(): Promise<Server> {
  const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'no'] })
  return {
    address: { redis: { host: server.host, port: server.port } },
    clock: { isReadByProcess: false, earlyMs: 0, backMs: 0 },
    isGone: (name) => isUnknown(server, name),
    async fail() {
      return ofKeys(await outageOf(server, () => server.restart({ keepData: true })))
    },
    stop: () => server.stop(),
  }
}

/** Its replica does not get a master's last writes before the master is killed. */
async function cluster(): Promise<Server> {
  const { nodes, masters, replicas, stop } = await startCluster({
    replicasPerMaster: 1,
    nodeTimeoutMs: 1000,
  })
  const killed = new Set<RedisServer>()
  return {
    address: { cluster: nodes.map(({ host, port }) => ({ host, port })) },
    clock: { isReadByProcess: false, earlyMs: 0, backMs: 0 },
    async isGone(name) {
      const alive = nodes.filter((node) => !killed.has(node))
      const all = await Promise.all(alive.map((node) => isUnknown(node, name)))
      return !all.includes(false)
    },
    async fail(asked) {
      const [place, keys] = await withLongest(masters)
      const [master, replica] = [masters[place] as RedisServer, replicas[place] as RedisServer]
      const since = monotonic()
      await master.command('ACL', 'SETUSER', 'default', '-psync', '-sync')
      await master.command('CLIENT', 'KILL', 'TYPE', 'replica')
      await asked()
      const isMaster = async () => (await replica.info('replication')).role === 'master'
      killed.add(master)
      const isBack = () => until(isMaster, { everyMs: 20, what: 'the replica takes over' })
      return ofKeys({ ...(await outageOf(master, isBack)), lost: { since } }, keys)
    },
    stop,
  }
}

/** The place of the master that has the key of which nothing ends meanwhile, and all keys that it has. */
async function withLongest(masters: readonly RedisServer[]): Promise<readonly [number, string[]]> {
  for (const [place, master] of masters.entries()) {
    const keys: string[] = []
    for (const key of Object.keys(KEYS)) {
      const found = (await master.command('KEYS', `${prefixOf(key)}:{*`)) as string[]
      if (found.some((each) => !each.includes(':{#}:'))) keys.push(key)
    }
    if (keys.includes(LONGEST)) return [place, keys]
  }
  throw new Error(`no master has ${LONGEST}`)
}

/**
 * It decides at the time at which it has read a key, and writes until the deadline, if nobody else has written
 * meanwhile: others may have been refused meanwhile, at a later time.
 */
async function postgres(): Promise<Server> {
  const server = await startPostgres()
  const pool = new pg.Pool({ connectionString: server.url })
  pool.on('error', () => {})
  await postgresStore(pool, { logged: true }).migrate()
  return {
    address: { postgres: server.url },
    clock: { isReadByProcess: true, earlyMs: 12, backMs: DEADLINE_MS },
    async isGone(name) {
      const text = 'SELECT FROM pg_stat_activity WHERE application_name = $1'
      return (await pool.query(text, [name])).rowCount === 0
    },
    async fail() {
      const since = await writtenSince(pool)
      return ofKeys({ ...(await outageOf(server)), lost: { since } })
    },
    async stop() {
      await pool.end()
      await server.stop()
    },
  }
}

/** A time before which all is written that was committed, ms: PostgreSQL keeps later commits in memory for a while. */
async function writtenSince(pool: pg.Pool): Promise<number> {
  const since = monotonic()
  const { rows } = await pool.query('SELECT pg_current_wal_insert_lsn() AS lsn')
  const text = 'SELECT FROM pg_current_wal_lsn() AS written WHERE written >= $1'
  const isWritten = async () => (await pool.query(text, [rows[0].lsn])).rowCount === 1
  await until(isWritten, { what: 'what was committed is written' })
  return since
}

/**
 * It decides at the time at which it has read a key, and writes until the deadline, as PostgreSQL does. What was
 * committed is in a file before it is answered: kill -9 loses nothing.
 */
async function mysql(): Promise<Server> {
  const server = await startMysql(['performance-schema=ON', 'innodb-flush-log-at-trx-commit=2'])
  const pool = createPool(server.url)
  await mysqlStore(pool).migrate()
  return {
    address: { mysql: server.url },
    clock: { isReadByProcess: true, earlyMs: 0, backMs: DEADLINE_MS },
    async isGone(name) {
      const text =
        "SELECT 1 FROM performance_schema.session_account_connect_attrs WHERE attr_name = 'program_name' AND attr_value = ?"
      const [rows] = await pool.query(text, [name])
      return (rows as unknown[]).length === 0
    },
    async fail() {
      return ofKeys(await outageOf(server))
    },
    async stop() {
      await pool.end()
      await server.stop()
    },
  }
}

/** It decides by the clock of a process, and writes until the deadline. Only the processes are killed. */
async function dynamodb(): Promise<Server> {
  const server = await startDynamodb()
  const address = { dynamodb: server.url }
  await (openStore(address, 'migrating') as DynamodbStore).migrate()
  return {
    address,
    clock: { isReadByProcess: true, earlyMs: 0, backMs: DEADLINE_MS },
    async isGone() {
      // It answers in the order of what it receives.
      for (let i = 0; i < 2; i += 1) await server.counts()
      return true
    },
    fail: async () => new Map(),
    stop: () => server.stop(),
  }
}

/** There is no server: only the processes are killed. */
async function sqlite(): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-histories-'))
  return {
    address: { sqlite: join(folder, 'limits.db') },
    clock: { isReadByProcess: true, earlyMs: 0, backMs: 0 },
    isGone: async () => true,
    fail: async () => new Map(),
    stop: () => rm(folder, { recursive: true }),
  }
}

async function isUnknown(server: RedisServer, name: string): Promise<boolean> {
  return !String(await server.command('CLIENT', 'LIST')).includes(`name=${name} `)
}

/** Kills a server, and waits until it is back, or what takes its place. */
async function outageOf(
  server: { kill(): Promise<void>; restart(): Promise<void> },
  comesBack: () => Promise<unknown> = () => server.restart(),
): Promise<Outage> {
  await server.kill()
  const from = monotonic()
  await comesBack()
  return { from, to: monotonic() }
}

function ofKeys<T>(outage: T, keys = Object.keys(KEYS)): ReadonlyMap<string, T> {
  return new Map(keys.map((key) => [key, outage]))
}
