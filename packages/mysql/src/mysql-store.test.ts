import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { createLimiter, type Limiter, type LimiterOptions } from '@sluice/core'
import { describeUnless } from '@sluice/test-harness/jest'
import { type MysqlServer, startMysql, whyNoMysql } from '@sluice/test-harness/mysql'
import { runInProcesses } from '@sluice/test-harness/processes'
import { patient, type RedisProxy, startProxy, until } from '@sluice/test-harness/redis'
import { createPool as createCallbackPool } from 'mysql2'
import { createPool, type Pool, type PoolConnection, type RowDataPacket } from 'mysql2/promise'
import { mysqlStore } from './index.ts'
import { checkVersion } from './setup-error.ts'
import * as sql from './statements.ts'
import type { Work } from './testing/workers/consuming.ts'
import { Transactions } from './transactions.ts'

const worker = new URL(`file://${__dirname}/testing/workers/consuming.ts`)

test.each([
  ['nothing', undefined],
  ['a URL', 'mysql://127.0.0.1/test'],
  ['a pool of callbacks', createCallbackPool({})],
  ['a single connection', { query() {}, execute() {} }],
])('%s is no pool of promises', (_, pool) => {
  expect(() => mysqlStore(pool as never)).toThrow(
    expect.objectContaining({ code: 'SLUICE_STORE_UNKNOWN', option: 'pool' }),
  )
})

test('options are checked', () => {
  expect(() => mysqlStore(createPool({}), { table: 'limits' } as object)).toThrow(
    expect.objectContaining({ code: 'SLUICE_OPTION_UNKNOWN' }),
  )
})

describe('the version of the server', () => {
  test.each([
    '8.0.36',
    '8.0.32-mysql_aurora.3.08.0',
    '9.7.4-2',
    '10.6.18-MariaDB-log',
    '5.5.5-10.11.19-MariaDB-0+deb12u1',
    '11.8.2-MariaDB',
  ])('%s is new enough', (version) => {
    expect(() => checkVersion(version)).not.toThrow()
  })
  test.each(['5.7.44-log', '10.5.29-MariaDB', '5.5.5-10.5.8-MariaDB', '5.5.68-MariaDB', ''])(
    '%s is not',
    (version) => {
      expect(() => checkVersion(version)).toThrow(
        expect.objectContaining({ code: 'SLUICE_MYSQL_VERSION' }),
      )
    },
  )
  test('is looked at by migrate()', async () => {
    const query = async () => [[[Buffer.from('5.7.44-log')]]]
    const getConnection = async () => ({ query, release() {}, destroy() {} })
    await expect(mysqlStore({ getConnection }).migrate()).rejects.toMatchObject({
      code: 'SLUICE_MYSQL_VERSION',
    })
  })
})

describeUnless(whyNoMysql(), 'MySQL', () => {
  let server: MysqlServer
  let pool: Pool
  const limiters: Limiter<'async'>[] = []
  const pools: Pool[] = []

  beforeAll(async () => {
    server = await startMysql()
    pool = createPool(server.url)
    await mysqlStore(pool).migrate()
  })
  afterAll(async () => {
    await pool.end()
    await server.stop()
  })
  afterEach(async () => {
    for (const limiter of limiters.splice(0)) limiter.close()
    await Promise.all(pools.splice(0).map((each) => each.end()))
    jest.restoreAllMocks()
  })

  let prefixes = 0
  function limit(options: object): Limiter<'async'> {
    prefixes += 1
    const limiter = createLimiter({
      ...patient,
      store: mysqlStore(pool),
      prefix: `test-${prefixes}`,
      window: '1d',
      ...options,
    } as unknown as LimiterOptions) as Limiter<'async'>
    limiters.push(limiter)
    return limiter
  }

  /** Limiters of the same keys, as of several processes. */
  function several(stores: readonly Pool[], options: object = {}): Limiter<'async'>[] {
    const prefix = `shared-${prefixes}`
    return stores.map((each) => limit({ limit: 30, store: mysqlStore(each), prefix, ...options }))
  }

  /** A pool of its own. @param settings what each of its sessions has */
  function poolWith(options: object = {}, ...settings: string[]): Pool {
    const own = createPool({ uri: server.url, ...options })
    own.on('connection', (connection) => {
      for (const each of settings) connection.query(`SET SESSION ${each}`)
    })
    pools.push(own)
    return own
  }

  async function select(text: string, values: unknown[] = []): Promise<RowDataPacket[]> {
    return (await pool.query<RowDataPacket[]>(text, values))[0]
  }

  const rows = async (like = `test-${prefixes}:%`) => {
    const text = 'SELECT id, state, expires FROM sluice_states WHERE id LIKE ? ORDER BY id'
    const found = await select(text, [like])
    // Not the documents.
    return found
      .map(({ id, ...row }) => ({ ...row, id: String(id), expires: row.expires as number }))
      .filter(({ id }) => !id.includes(':{#}:'))
  }

  /** Resolves when a client of this limiter has a state, and is known to have nothing else: one key is decided. */
  async function untilAlone(limiter: Limiter<'async'>, prefix = `test-${prefixes}`): Promise<void> {
    await limiter.consume('other')
    const text = 'SELECT 1 FROM sluice_states WHERE id LIKE ? AND expires > 0'
    const areKept = async () => (await select(text, [`${prefix}:{#}%version`])).length > 0
    await until(areKept, { what: 'the keyspaces are kept' })
    await limiter.consume('client')
  }

  const LOCK = 'SELECT id FROM sluice_states WHERE id = ? FOR UPDATE'
  /** The id of the state of a client. @param prefix default: the one of the last limiter */
  const idOf = async (key: string, prefix = `test-${prefixes}`) => {
    const found = await rows(`${prefix}:{${key}}%`)
    return found.find(({ expires }) => expires > 0)?.id as string
  }

  /** Holds the row of a client, until it is released. */
  async function hold(key: string, prefix?: string): Promise<PoolConnection> {
    const id = await idOf(key, prefix)
    const holder = await pool.getConnection()
    await holder.query('START TRANSACTION')
    await holder.query(LOCK, [id])
    return holder
  }

  /** Waits until so many transactions wait for a lock. */
  async function untilWaiting(count: number): Promise<void> {
    const text = "SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
    const isWaiting = async () => (await select(text)).length === count
    // The server shows the same again to who asks within 100 ms.
    await delay(120)
    await until(isWaiting, { everyMs: 120, what: `${count} wait for a lock` })
  }

  describe('several processes', () => {
    const work = (more: Partial<Work>): Work => ({
      url: server.url,
      times: 300,
      limit: 300,
      prefix: `processes-${prefixes++}`,
      atOnce: 10,
      ...more,
    })
    const sum = (counts: readonly number[]) => counts.reduce((all, each) => all + each, 0)

    test('two that ask 300 times each get 300 together', async () => {
      expect(sum(await runInProcesses<number>(worker, 2, work({})))).toBe(300)
    })

    /** Resolves when the only process of this work has killed itself, in the middle of its requests. */
    const killed = async (asked: Work) => {
      const started = runInProcesses<number>(worker, 1, { ...asked, killed: 0 })
      expect(await started.catch(String)).toContain('SIGKILL')
    }

    test('what a process has asked before it is killed is charged once, and its locks are free', async () => {
      const asked = work({ limit: 400 })
      await killed(asked)
      const { remaining } = await limit({ limit: 400, prefix: asked.prefix }).peek('client')
      // Up to ten requests of 150 were not answered yet.
      expect(400 - remaining).toBeGreaterThanOrEqual(140)
      expect(400 - remaining).toBeLessThanOrEqual(150)
    })

    test('one that is killed beside another takes at most what it has asked for', async () => {
      const asked = work({})
      const [[admitted = 0]] = await Promise.all([
        runInProcesses<number>(worker, 1, asked),
        killed(asked),
      ])
      expect(admitted).toBeGreaterThanOrEqual(150)
      expect(admitted).toBeLessThanOrEqual(300)
      const { remaining } = await limit({ prefix: asked.prefix, limit: 300 }).peek('client')
      expect(remaining).toBe(0)
    })
  })

  describe('admits exactly its limit to four stores', () => {
    test.each([
      "transaction_isolation = 'READ-COMMITTED'",
      "transaction_isolation = 'REPEATABLE-READ'",
      "transaction_isolation = 'SERIALIZABLE'",
      "transaction_isolation = 'READ-UNCOMMITTED'",
      'autocommit = 0',
    ])('with %s', async (setting) => {
      const named = await select("SHOW VARIABLES LIKE 'transaction_isolation'")
      const old = setting.replace(/transaction_(isolation)/, 'tx_$1')
      const own = poolWith({}, named.length === 0 ? old : setting)
      const limiters = several([own, own, own, own])
      for (let round = 0; round < 4; round += 1) {
        const asked = Array.from({ length: 60 }, async (_, i) => {
          // One after the other, so that each store has several transactions.
          for (let turn = 0; turn < i / 4; turn += 1) await new Promise(setImmediate)
          return limiters[i % 4]?.consume(`client-${round}`)
        })
        const decisions = await Promise.all(asked)
        expect(decisions.map((each) => each?.source)).toEqual(Array(60).fill('store'))
        expect(decisions.filter((each) => each?.allowed)).toHaveLength(30)
      }
    })

    test('with several policies', async () => {
      const policies = [1, 2].map((n) => ({ name: `p${n}`, limit: 30 * n, window: '1d' }))
      const own = poolWith()
      const limiters = several([own, own], { limit: undefined, window: undefined, policies })
      const asked = Array.from({ length: 60 }, async (_, i) => {
        for (let turn = 0; turn < i / 4; turn += 1) await new Promise(setImmediate)
        return limiters[i % 2]?.consume('client')
      })
      expect((await Promise.all(asked)).filter((each) => each?.allowed)).toHaveLength(30)
    })
  })

  test('a snapshot that a connection still has decides nothing', async () => {
    const own = poolWith({ connectionLimit: 1 }, 'autocommit = 0')
    const limiter = limit({ limit: 2, store: mysqlStore(own) })
    await untilAlone(limiter)
    const other = limit({ limit: 2, prefix: `test-${prefixes}` })
    // The application has read something, and no COMMIT ends its transaction.
    await own.query('SELECT * FROM sluice_states')
    await other.consume('client')
    expect(await limiter.peek('client')).toMatchObject({ remaining: 0 })
    await own.query('SELECT * FROM sluice_states')
    await other.reset('client')
    expect(await limiter.consume('client')).toMatchObject({ remaining: 1 })
    await own.query('SELECT * FROM sluice_states')
    await other.consume('client')
    const id = await idOf('client', `test-${prefixes - 1}`)
    const [found] = await select('SELECT state FROM sluice_states WHERE id = ?', [id])
    const connection = await own.getConnection()
    const range = { after: id.slice(0, -1), before: `${id} `, count: 1 }
    const { keys } = await new Transactions(undefined).list(connection, range)
    connection.release()
    expect(keys).toEqual([{ key: id, state: found?.state }])
    const listed = []
    const prefix = `test-${prefixes - 1}`
    for await (const { used } of mysqlStore(own).inspect({ prefix, key: 'client' }))
      listed.push(used)
    expect(listed).toEqual([2])
    await own.query('ROLLBACK')
  })

  describe('a transaction', () => {
    let proxy: RedisProxy
    let proxied: Pool
    beforeAll(async () => {
      proxy = await startProxy(server)
      proxied = createPool(server.url.replace(`${server.port}`, `${proxy.port}`))
    })
    afterAll(async () => {
      await proxied.end()
      await proxy.stop()
    })
    const trips = async (act: () => unknown) => {
      const before = proxy.counts.requestChunks
      await act()
      return proxy.counts.requestChunks - before
    }

    test('of one key has two round trips; a refusal and a look have one', async () => {
      // Which networks are blocked is read apart.
      const store = { ...mysqlStore(proxied), documents: undefined }
      const limiter = limit({ store, limit: 1000 })
      await untilAlone(limiter)
      // Now and then it is asked what else the client has.
      const takes = (count: number, act: () => Promise<unknown>) =>
        until(async () => (await trips(act)) === count, { what: `${count} round trips` })
      await takes(2, () => limiter.consume('client'))
      await takes(1, () => limiter.peek('client'))
      const { remaining } = await limiter.peek('client')
      await limiter.consume('client', { cost: remaining })
      await takes(1, () => limiter.consume('client'))
    })

    test('has seven round trips, for all requests of a turn', async () => {
      const store = { ...mysqlStore(proxied), documents: undefined }
      const limiter = limit({ store, limit: 5 })
      await limiter.peek('connected')
      let decisions: { allowed: boolean }[] = []
      const ask = async () => {
        const asked = Array.from({ length: 20 }, (_, i) => limiter.consume(`client-${i % 2}`))
        decisions = await Promise.all(asked)
      }
      const { connections } = proxy.counts
      expect(await trips(ask)).toBe(7)
      expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10)
      expect(proxy.counts.connections).toBe(connections)
    })

    test('leaves nothing of keys that it has only read', async () => {
      const limiter = limit({ limit: 5 })
      await limiter.peek('nobody')
      await limiter.consume('nobody', { cost: 0 })
      expect(await rows()).toEqual([])
      await Promise.all([limiter.peek('nobody'), limiter.consume('somebody')])
      const kept = (await rows()).filter(({ expires }) => expires > 0)
      expect(kept.map(({ id }) => id)).toEqual([expect.stringContaining('{somebody}')])
      await pool.query(
        sql.sweep(
          (await rows()).map(({ id }) => Buffer.from(id)),
          undefined,
        ),
      )
      expect(await rows()).toHaveLength(1)
    })

    test('reads the clock after it has its locks', async () => {
      const limiter = limit({ limit: 5, algorithm: 'sliding-log' })
      await Promise.all([limiter.consume('one'), limiter.consume('other')])
      const holder = await hold('other')
      const waiting = Promise.all([limiter.consume('one'), limiter.consume('other')])
      await untilWaiting(1)
      const [[time]] = await holder.query<RowDataPacket[]>(`${sql.TIME} AS now`)
      await holder.query('COMMIT')
      holder.release()
      const [one] = await waiting
      expect(one?.at).toBeGreaterThanOrEqual(time?.now)
    })

    test('takes its locks in the order of the keys: two with the same keys never wait for each other', async () => {
      const limiter = limit({ limit: 5 })
      const keys = Array.from({ length: 20 }, (_, i) => `client-${String(i).padStart(2, '0')}`)
      const consume = () => Promise.all(keys.map((key) => limiter.consume(key)))
      await consume()
      const holder = await hold('client-10')
      const waiting = consume()
      await untilWaiting(1)
      const isFree = async (key: string) => {
        return (await select(`${LOCK} SKIP LOCKED`, [await idOf(key)])).length > 0
      }
      const free = [await isFree('client-09'), await isFree('client-11')]
      await holder.query('COMMIT')
      holder.release()
      expect((await waiting).map(({ remaining }) => remaining)).toEqual(Array(20).fill(3))
      expect(free).toEqual([false, true])
    })

    test('that another one wants to wait for it is repeated, and counted once', async () => {
      const limiter = limit({ limit: 5 })
      await Promise.all([limiter.consume('a'), limiter.consume('b')])
      const holder = await pool.getConnection()
      await holder.query('CREATE TABLE IF NOT EXISTS heavy (n INT) ENGINE = InnoDB')
      await holder.query('START TRANSACTION')
      // The server ends the transaction that has changed less.
      await holder.query(`INSERT INTO heavy VALUES ${Array(100).fill('(1)').join()}`)
      const query = jest.spyOn(Object.getPrototypeOf(Object.getPrototypeOf(holder)), 'query')
      await holder.query(LOCK, [await idOf('b')])
      const waiting = Promise.all([limiter.consume('a'), limiter.consume('b')])
      await untilWaiting(1)
      await holder.query(LOCK, [await idOf('a')])
      await holder.query('COMMIT')
      holder.release()
      expect((await waiting).map(({ remaining }) => remaining)).toEqual([3, 3])
      const repeated = query.mock.calls.filter(([sent]) => Object(sent).sql === 'ROLLBACK')
      expect(repeated).toHaveLength(1)
      expect(await limiter.peek('a')).toMatchObject({ remaining: 3 })
    })

    test('waits for a lock as long as the deadline allows, and leaves the settings of the user', async () => {
      const own = poolWith(
        { connectionLimit: 1 },
        'innodb_lock_wait_timeout = 1',
        'wait_timeout = 99',
      )
      const limiter = limit({ store: mysqlStore(own), limit: 5 })
      await untilAlone(limiter)
      const holder = await hold('client')
      const waiting = limiter.consume('client')
      await delay(1500)
      await untilWaiting(1)
      await holder.query('COMMIT')
      holder.release()
      expect(await waiting).toMatchObject({ source: 'store', remaining: 3 })
      const settings = 'SELECT @@innodb_lock_wait_timeout AS locks, @@wait_timeout AS idle'
      expect((await own.query<RowDataPacket[]>(settings))[0]).toEqual([{ locks: 1, idle: 99 }])
    })

    test('of a process that stops in the middle loses its locks', async () => {
      const limiter = limit({ limit: 5 })
      await Promise.all([limiter.consume('one'), limiter.consume('other')])
      const [{ id } = { id: '' }] = await rows()
      const stopped = await pool.getConnection()
      await stopped.query(sql.patience(50))
      await stopped.query('START TRANSACTION')
      await stopped.query(sql.lock([id]))
      expect(await limiter.consume('one')).toMatchObject({ remaining: 3, source: 'store' })
      await expect(stopped.query('COMMIT')).rejects.toThrow()
      stopped.destroy()
    })

    test('finds its rows without a scan, however many there are', async () => {
      const many = Array.from({ length: 2000 }, (_, i) => `('plan-${i}', 'x', 1)`)
      await pool.query(`INSERT INTO sluice_states VALUES ${many.join()}`)
      await pool.query('ANALYZE TABLE sluice_states')
      const keys = Array.from({ length: 500 }, (_, i) => `plan-${i}`)
      const change = { key: 'plan-1', state: undefined, ttlMs: 1 }
      const swap = sql.swap(change, Buffer.from('x'), 0, 1)
      const ids = many.slice(0, 1000).map((_, i) => Buffer.from(`plan-${i}`))
      const range = { after: 'plan-1', before: 'plan-9', count: 10 }
      const texts = [
        sql.locked(keys),
        swap,
        sql.sweep(ids, 2),
        sql.list(range, 0),
        sql.expired(9, 0),
      ]
      const [, look = ''] = /, (\(SELECT.*\)) AS state$/.exec(sql.look('plan-1')) ?? []
      for (const text of [...texts, look]) {
        // A setting for one statement can't be explained with it.
        const statement = text.replace(/^\/\*M!.*?\*\/ /, '')
        const plan = await select(`EXPLAIN FORMAT = TRADITIONAL ${statement}`)
        const types = plan.filter(({ table }) => table !== 'k').map(({ type }) => type)
        expect(types).toEqual([expect.stringMatching(/^(range|const|eq_ref)$/)])
      }
      await pool.query("DELETE FROM sluice_states WHERE id LIKE 'plan-%'")
    })

    test('is undone with the connection if it fails, which is closed', async () => {
      const own = poolWith({ connectionLimit: 1 }, 'sql_select_limit = 1')
      const connected = async () =>
        (await own.query<RowDataPacket[]>('SELECT CONNECTION_ID() AS id'))[0][0]?.id
      const before = await connected()
      const limiter = limit({ store: mysqlStore(own), limit: 5, onStoreError: 'deny' })
      // Not all rows that it has locked are read.
      const decided = await Promise.all([limiter.consume('one'), limiter.consume('other')])
      expect(decided.map(({ source }) => source)).toEqual(['deny', 'deny'])
      expect(await rows()).toEqual([])
      expect(await connected()).not.toBe(before)
    })
  })

  describe('keys', () => {
    const other = [
      ['a', 'A'],
      ['a', 'a '],
      ['é', 'e\u0301'],
      ['é', 'e'],
      ['ß', 'ss'],
      ['x'.repeat(10_000), `${'x'.repeat(9_999)}y`],
      ["o'brien", "o''brien"],
      ['\\', '\\\\'],
      ['%', '_'],
      ['?', ':key'],
    ]
    test.each(other)('that differ do so: %#', async (one, two) => {
      const limiter = limit({ limit: 1 })
      for (const key of [one, two]) {
        expect(await limiter.consume(key)).toMatchObject({ allowed: true, source: 'store' })
        expect(await limiter.consume(key)).toMatchObject({ allowed: false, source: 'store' })
      }
      expect((await rows()).filter(({ expires }) => expires > 0)).toHaveLength(2)
    })
  })

  describe('settings of the server and of the pool', () => {
    test.each([
      ["sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,ONLY_FULL_GROUP_BY'", {}],
      ["sql_mode = ''", {}],
      ['time_zone = "+05:45"', {}],
      ['sql_safe_updates = 1', {}],
      ['character_set_connection = latin1', {}],
      ['wait_timeout = 99', { namedPlaceholders: true, nestTables: true, dateStrings: true }],
      ['wait_timeout = 99', { supportBigNumbers: true, bigNumberStrings: true, rowsAsArray: true }],
      ['wait_timeout = 99', { typeCast: () => 'cast', decimalNumbers: true, timezone: '+09:00' }],
      ['wait_timeout = 99', { flags: ['-FOUND_ROWS'] }],
    ])('%s, %j', async (setting, options) => {
      const store = mysqlStore(poolWith(options, setting))
      const limiter = limit({ limit: 5, store })
      const before = Date.now()
      for (const key of ['one', 'one', 'one']) {
        const decision = await limiter.consume(key)
        expect(decision).toMatchObject({ source: 'store' })
        expect(Math.abs((decision.at as number) - before)).toBeLessThan(60_000)
      }
      await Promise.all([limiter.consume('one'), limiter.consume('other')])
      expect(await limiter.peek('one')).toMatchObject({ remaining: 1 })
    })

    test('a small max_allowed_packet has room for many large states', async () => {
      await pool.query('SET GLOBAL max_allowed_packet = 1048576')
      try {
        const connection = await poolWith().getConnection()
        const keys = Array.from({ length: 60 }, (_, i) => `packet-${10 + i}`)
        const state = Buffer.alloc(20_000, 7)
        const changes = keys.map((key) => ({ key, state, ttlMs: 1 }))
        const found: unknown[] = []
        const transact = () =>
          new Transactions(undefined).transact(
            connection,
            keys,
            (states) => {
              found.push(...states)
              return { changes, value: undefined }
            },
            60_000,
          )
        await transact()
        await transact()
        connection.release()
        expect(found).toEqual([...Array(60).fill(undefined), ...Array(60).fill(state)])
      } finally {
        await pool.query('SET GLOBAL max_allowed_packet = 16777216')
      }
    })
  })

  describe('a server that hangs', () => {
    let frozen: MysqlServer
    beforeAll(async () => {
      frozen = await startMysql()
    })
    afterAll(() => frozen.stop())

    test('does not hang the application; every connection comes back, and nothing is charged later', async () => {
      const own = createPool({ uri: frozen.url, connectionLimit: 3 })
      const store = mysqlStore(own)
      await store.migrate()
      const options = { store, limit: 9, prefix: 'frozen' }
      const prompt = limit({ ...options, deadline: 50, onStoreError: 'deny' })
      const patient = limit(options)
      for (const key of ['a', 'a', 'b', 'b']) await patient.consume(key)
      frozen.pause()
      // It may still be busy for a moment.
      const isFrozen = async () => (await prompt.peek('a')).source === 'deny'
      await until(isFrozen, { what: 'it is frozen' })
      const began = performance.now()
      expect(await prompt.consume('a')).toMatchObject({ source: 'deny' })
      const both = await Promise.all([prompt.consume('a'), prompt.consume('b')])
      expect(both.map(({ source }) => source)).toEqual(['deny', 'deny'])
      expect(performance.now() - began).toBeLessThan(5000)
      frozen.resume()
      const isUsed = async () => (await patient.peek('a')).source === 'store'
      await until(isUsed, { what: 'the store decides again' })
      const text =
        "SELECT 1 FROM information_schema.processlist WHERE command <> 'Sleep' AND info NOT LIKE '%processlist%'"
      const isDone = async () => (await own.query<RowDataPacket[]>(text))[0].length === 0
      await until(isDone, { what: 'the server has done what it was sent' })
      for (const key of ['a', 'b'])
        expect(await patient.peek(key)).toMatchObject({ remaining: 7, source: 'store' })
      // All of them can be had at the same time.
      const held = await Promise.all([1, 2, 3].map(() => own.getConnection()))
      for (const each of held) each.release()
      await own.end()
    })

    test('that ends breaks idle connections, and not the process; it is used again when it is back', async () => {
      const own = createPool(frozen.url)
      const store = mysqlStore(own)
      await store.migrate()
      const limiter = limit({ store, limit: 9, onStoreError: 'deny', deadline: 500 })
      await limiter.consume('client')
      await frozen.kill()
      expect(await limiter.consume('client')).toMatchObject({ source: 'deny' })
      await frozen.restart()
      const isUsed = async () => (await limiter.consume('client')).source === 'store'
      await until(isUsed, { what: 'the store decides again' })
      await own.end()
    })
  })

  test('what waits for the pool longer than the deadline is abandoned, and charges nothing', async () => {
    const one = poolWith({ connectionLimit: 1 })
    const store = mysqlStore(one)
    const prompt = limit({ store, limit: 5, deadline: 50, onStoreError: 'deny' })
    const patient = limit({ store, limit: 5, prefix: `test-${prefixes}` })
    await patient.peek('client')
    const held = await one.getConnection()
    for (let i = 0; i < 3; i += 1) {
      expect(await prompt.consume('client')).toMatchObject({ allowed: false, source: 'deny' })
    }
    held.release()
    const isUsed = async () => (await patient.peek('client')).source === 'store'
    await until(isUsed, { what: 'the store decides again' })
    expect(await patient.peek('client')).toMatchObject({ remaining: 5, source: 'store' })
    const again = await one.getConnection()
    again.release()
  })

  test('a lone request that waited longer than its deadline for a lock writes nothing later', async () => {
    const prefix = 'late'
    const prompt = limit({ limit: 50, prefix, deadline: 100, onStoreError: 'deny' })
    const patient = limit({ limit: 50, prefix })
    await untilAlone(prompt, prefix)
    // On a busy machine it may be too late, and yet charge.
    const isUsed = async () => (await prompt.consume('client')).source === 'store'
    await until(isUsed, { what: 'the store decides' })
    const { remaining } = await patient.peek('client')
    const holder = await hold('client', prefix)
    expect(await prompt.consume('client')).toMatchObject({ source: 'deny' })
    await delay(300)
    await holder.query('COMMIT')
    holder.release()
    await untilWaiting(0)
    expect(await patient.peek('client')).toMatchObject({ remaining, source: 'store' })
  })

  describe('the table', () => {
    test('is never created silently: the warning has its statement', async () => {
      const warnings: string[] = []
      jest.spyOn(process, 'emitWarning').mockImplementation(((message: string) => {
        warnings.push(message)
      }) as never)
      await pool.query('CREATE DATABASE missing')
      const own = poolWith({ database: 'missing' })
      const limiter = limit({ store: mysqlStore(own), limit: 5 })
      expect(await limiter.consume('client')).toMatchObject({ allowed: true, source: 'local' })
      const [warning] = warnings
      expect(warning).toContain('SLUICE_MYSQL_TABLE')
      const create = /run: (.*;) Expected/.exec(warning as string)?.[1] as string
      await own.query(create)
      const isUsed = async () => (await limiter.consume('client')).source === 'store'
      await until(isUsed, { what: 'the store decides' })
      expect(warnings.at(-1)).toContain('SLUICE_STORE_UP')
    })

    test('has in docs/stores.md the statement that creates it', () => {
      const page = readFileSync(join(__dirname, '../../../docs/stores.md'), 'utf8')
      expect(page).toContain(`${sql.CREATE};`)
    })

    test('is created once, however many processes do it at the same time', async () => {
      await pool.query('CREATE DATABASE several')
      const own = poolWith({ database: 'several' })
      await Promise.all(Array.from({ length: 5 }, () => mysqlStore(own).migrate()))
      await mysqlStore(own).migrate()
      expect((await own.query('SHOW TABLES'))[0]).toHaveLength(1)
    })

    test('that exists need not be created: migrate() succeeds with the grants of an application', async () => {
      await pool.query("CREATE USER application IDENTIFIED BY ''")
      await pool.query('GRANT SELECT, INSERT, UPDATE, DELETE ON test.sluice_states TO application')
      await pool.query('CREATE DATABASE nothing')
      await pool.query('GRANT SELECT ON nothing.* TO application')
      const store = mysqlStore(poolWith({ user: 'application' }))
      await store.migrate()
      const limiter = limit({ store, limit: 5 })
      for (let i = 0; i < 3; i += 1)
        expect(await limiter.consume('client')).toMatchObject({ source: 'store' })
      await limiter.reset('client')

      const empty = mysqlStore(poolWith({ user: 'application', database: 'nothing' }))
      const error = await empty.migrate().catch(String)
      expect(error).toContain('SLUICE_MYSQL_FORBIDDEN')
      expect(error).toContain(`or run: ${sql.CREATE};`)
      expect(error).not.toContain('GRANT')
    })

    test('without its index is not complete', async () => {
      await pool.query('CREATE DATABASE partial')
      const own = poolWith({ database: 'partial' })
      await mysqlStore(own).migrate()
      await own.query('DROP INDEX sluice_states_expires ON sluice_states')
      await expect(mysqlStore(own).migrate()).rejects.toMatchObject({ code: 'SLUICE_MYSQL_TABLE' })
    })

    test.each([
      ['SLUICE_MYSQL_FORBIDDEN', 'GRANT SELECT ON test.sluice_states TO guest', { user: 'guest' }],
      ['SLUICE_MYSQL_FORBIDDEN', 'DO 1', { user: 'guest', database: 'mysql' }],
      ['SLUICE_MYSQL_AUTH', 'DO 1', { user: 'root', password: 'wrong' }],
      ['SLUICE_MYSQL_AUTH', 'DO 1', { user: 'root', database: 'no_such_database' }],
      ['SLUICE_MYSQL_TABLE', 'DO 1', { user: 'root', database: undefined }],
    ])('%s: the error says what is wrong: %s, %j', async (code, setUp, options) => {
      await pool.query("CREATE USER IF NOT EXISTS guest IDENTIFIED BY ''")
      await pool.query(setUp)
      const { host, port } = server
      const wrong = createPool({ host, port, database: 'test', ...options })
      const limiter = limit({ store: mysqlStore(wrong), limit: 5 })
      const error = await Promise.resolve(limiter.reset('client')).catch((thrown) => thrown)
      expect(error).toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE', cause: { code } })
      await wrong.end()
    })

    test('on a server that has become read-only the error says so, until it accepts writes', async () => {
      await pool.query("CREATE USER writer IDENTIFIED BY ''")
      await pool.query('GRANT SELECT, INSERT, UPDATE, DELETE ON test.* TO writer')
      const limiter = limit({ store: mysqlStore(poolWith({ user: 'writer' })), limit: 5 })
      await limiter.consume('client')
      await pool.query('SET GLOBAL read_only = 1')
      try {
        const error = await Promise.resolve(limiter.reset('client')).catch((thrown) => thrown)
        expect(error).toMatchObject({ cause: { code: 'SLUICE_MYSQL_READONLY' } })
      } finally {
        await pool.query('SET GLOBAL read_only = 0')
      }
      const isUsed = async () => (await limiter.consume('client')).source === 'store'
      await until(isUsed, { what: 'the store decides' })
    })
  })

  test('every key is listed, however many there are, by a user who may only read', async () => {
    const limiter = limit({ limit: 5 })
    const prefix = `test-${prefixes}`
    const keys = Array.from({ length: 1100 }, (_, i) => `user:${i}`)
    await Promise.all(keys.map((key) => limiter.consume(key)))
    await pool.query("CREATE USER reader IDENTIFIED BY ''")
    await pool.query('GRANT SELECT ON test.sluice_states TO reader')
    const store = mysqlStore(poolWith({ user: 'reader' }))
    const found = []
    for await (const { key, used } of store.inspect({ prefix })) found.push([key, used])
    expect(found.sort()).toEqual(keys.map((key) => [key, 1]).sort())
  })

  describe('expired rows', () => {
    const MINUTE = 60_000
    async function add(count: number, expires: number): Promise<void> {
      const added = Array.from(
        { length: count },
        (_, i) => `('old-${expires}-${i}', 'x', ${expires})`,
      )
      await pool.query(`INSERT INTO sluice_states VALUES ${added.join()}`)
    }

    test('are deleted some time after a write, in batches, and no others', async () => {
      const now = 1_500_000_000_000
      // What other tests have left.
      await pool.query(`DELETE FROM sluice_states WHERE expires <= ${now}`)
      await add(2500, now - MINUTE)
      await add(3, now + MINUTE)
      jest.spyOn(Math, 'random').mockReturnValue(0.5)
      const own = poolWith({}, 'sql_safe_updates = 1')
      const deleted: number[] = []
      const getConnection = own.getConnection.bind(own)
      jest.spyOn(own, 'getConnection').mockImplementation(async () => {
        const connection = await getConnection()
        const query = connection.query.bind(connection) as (sent: object) => Promise<unknown[]>
        connection.query = (async (sent: { sql: string }) => {
          const result = await query(sent)
          if (sent.sql.includes('DELETE') && sent.sql.endsWith(`expires <= ${now}`))
            deleted.push((result[0] as { affectedRows: number }).affectedRows)
          return result
        }) as never
        return connection
      })
      jest.useFakeTimers({
        doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'],
      })
      const store = mysqlStore(own, { clock: () => now })
      await limit({ store, limit: 5 }).consume('client')
      const left = async () => (await rows('old-%')).length
      expect(await left()).toBe(2503)
      jest.advanceTimersByTime(60_000)
      // The pauses between the batches are short.
      jest.useRealTimers()
      await until(async () => (await left()) <= 3, { what: 'rows are deleted' })
      store.close()
      // The last one has also the rows that the limiter's keys got for a lock alone.
      expect(deleted).toEqual([1000, 1000, expect.any(Number)])
      expect(deleted[2]).toBeLessThan(510)
      expect(await rows()).toHaveLength(1)
    })

    test('are rounded up, so that a state is kept for as long as it matters', async () => {
      const limiter = limit({ limit: 5, window: '1m', algorithm: 'fixed-window' })
      const { at, resetMs } = await limiter.consume('client')
      const [row] = await rows()
      expect(row?.expires).toBeGreaterThanOrEqual((at as number) + resetMs)
      expect((row?.expires as number) % MINUTE).toBe(0)
    })
  })
})
