// Faults of PostgreSQL, of the network to it, and of the pool.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/core'
import { type PostgresStore, postgresStore } from '@sluice/postgres'
import { describeUnless } from '@sluice/test-harness/jest'
import { type PostgresServer, startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { patient, type RedisProxy, startProxy, until } from '@sluice/test-harness/redis'
import { Pool, type PoolClient, type QueryResult } from 'pg'
import { conclude as concludeIn, measured } from './figures.ts'
import { LIMIT, Load, type Report } from './load.ts'
import { warningCodes } from './warning-codes.ts'

const DOWN_AND_UP = ['SLUICE_STORE_DOWN', 'SLUICE_STORE_UP']

function conclude(
  row: number,
  fault: string,
  report: Report,
  figures: { bound: number; normalMs: number | undefined },
): void {
  concludeIn(row, fault, report, figures, 'postgres')
}

describeUnless(whyNoPostgres(), 'PostgreSQL', () => {
  let server: PostgresServer
  let proxy: RedisProxy
  let pool: Pool

  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.stop())

  /** A pool with the defaults of pg, through the proxy; no listener keeps its errors. */
  beforeEach(async () => {
    proxy = await startProxy(server)
    const url = new URL(server.url)
    url.port = `${proxy.port}`
    pool = new Pool({ connectionString: url.href })
  })
  afterEach(async () => {
    for (const each of loads.splice(0)) await each.stop()
    // Every connection went back to the pool, or was closed.
    const areIdle = () => pool.idleCount === pool.totalCount && pool.waitingCount === 0
    await until(areIdle, { what: 'all connections are idle' })
    await pool.end()
    await proxy.stop()
  })

  /** A store with a table of its own. */
  let schemas = 0
  async function newStore(options: { logged?: boolean } = {}): Promise<PostgresStore> {
    schemas += 1
    const schema = `s${schemas}`
    await direct(`CREATE SCHEMA ${schema}`)
    const store = postgresStore(pool, { schema, ...options })
    await store.migrate()
    return store
  }

  const loads: Load[] = []
  function startLoad(store: PostgresStore): Load {
    const started = new Load(store).start()
    loads.push(started)
    return started
  }

  async function load(options?: { logged?: boolean }): Promise<Load> {
    return startLoad(await newStore(options))
  }

  async function direct(sql: string, to: PostgresServer = server): Promise<QueryResult> {
    const client = new Pool({ connectionString: to.url, max: 1 })
    // An administrator may end it while it closes.
    client.on('error', () => {})
    try {
      return await client.query(sql)
    } finally {
      await client.end()
    }
  }

  test('it is absent at start', async () => {
    await postgresStore(pool).migrate()
    await server.kill()
    const absent = startLoad(postgresStore(pool))
    await absent.untilDecided(500)
    expect(warningCodes).toEqual(['SLUICE_STORE_DOWN'])
    await server.restart()
    const normalMs = await absent.untilDecidedBy('store')
    expect(warningCodes).toEqual(DOWN_AND_UP)
    await absent.untilNormal(300)
    conclude(1, 'absent at start', await absent.stop(), { bound: LIMIT, normalMs })
  })

  test.each([
    ['UNLOGGED: back without its data', false],
    ['logged: back with its data', true],
  ])('it is killed under load: %s', async (how, logged) => {
    const running = await load({ logged })
    await running.untilNormal(200)
    await server.kill()
    await running.untilDecidedBy('local')
    await running.untilDecided(300)
    await server.restart()
    const normalMs = await running.untilDecidedBy('store')
    expect(warningCodes).toEqual(DOWN_AND_UP)
    await running.untilNormal(300)
    conclude(2, `killed under load, ${how}`, await running.stop(), { bound: LIMIT, normalMs })
  })

  measured('it is frozen, its sockets stay open', async () => {
    const running = await load()
    await running.untilNormal(200)
    server.pause()
    await running.untilDecidedBy('local')
    await running.untilDecided(300)
    server.resume()
    const normalMs = await running.untilDecidedBy('store')
    expect(warningCodes).toEqual(DOWN_AND_UP)
    await running.untilNormal(300)
    conclude(3, 'frozen (SIGSTOP)', await running.stop(), { bound: LIMIT, normalMs })
  })

  measured('the network swallows everything', async () => {
    const running = await load()
    await running.untilDecided(200)
    proxy.blackhole()
    await running.untilDecidedBy('local')
    await running.untilDecided(300)
    proxy.blackhole(false)
    proxy.cut()
    const normalMs = await running.untilDecidedBy('store')
    await running.untilDecided(300)
    conclude(4, 'network swallows everything', await running.stop(), { bound: LIMIT, normalMs })
  })

  measured('it is slow by 5 ms: it still decides', async () => {
    const running = await load()
    await running.untilNormal(100)
    proxy.latency(5)
    await running.untilNormal(300)
    const report = await running.stop()
    // A busy machine may take longer than the deadline.
    const bound = report.sources.has('local') ? LIMIT : 0
    conclude(5, 'slow by 5 ms in each of two round trips', report, { bound, normalMs: undefined })
  })

  measured('it is slow by 150 ms, too much', async () => {
    const running = await load()
    await running.untilDecided(100)
    proxy.latency(150)
    await running.untilDecidedBy('local')
    await running.untilDecided(300)
    proxy.latency(0)
    const normalMs = await running.untilDecidedBy('store')
    await running.untilDecided(300)
    conclude(5, 'slow by 150 ms', await running.stop(), { bound: LIMIT, normalMs })
  })

  test('the application holds all connections of the pool', async () => {
    const running = await load()
    await running.untilDecided(200)
    const held: PoolClient[] = []
    while (held.length < 10) held.push(await pool.connect())
    await running.untilDecidedBy('local')
    await running.untilDecided(1000)
    // What the store waits for stays bounded.
    expect(pool.waitingCount).toBeLessThanOrEqual(8)
    for (const client of held) client.release()
    const normalMs = await running.untilDecidedBy('store')
    await running.untilDecided(300)
    conclude(6, 'the application holds the whole pool', await running.stop(), {
      bound: LIMIT,
      normalMs,
    })
  })

  test('another session locks the rows', async () => {
    const running = await load()
    await running.untilDecided(200)
    const other = new Pool({ connectionString: server.url })
    const session = await other.connect()
    await session.query(`BEGIN; SELECT * FROM s${schemas}.sluice_states FOR UPDATE`)
    await running.untilDecidedBy('local')
    await running.untilDecided(300)
    await session.query('COMMIT')
    session.release()
    const normalMs = await running.untilDecidedBy('store')
    await running.untilDecided(300)
    conclude(7, 'another session locks the rows', await running.stop(), { bound: LIMIT, normalMs })
    await other.end()
  })

  test('its connections are ended by an administrator', async () => {
    const running = await load()
    await running.untilDecided(200)
    for (let i = 0; i < 5; i += 1) {
      await direct(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
      )
      await running.untilDecided(50)
    }
    const normalMs = await running.untilDecidedBy('store')
    conclude(8, 'its connections are ended, five times', await running.stop(), {
      bound: LIMIT,
      normalMs,
    })
  })

  test('a failover, to a replica that is not promoted yet', async () => {
    const replica = await startPostgres(server)
    try {
      const running = await load()
      await running.untilNormal(200)
      const isCopied = async () => {
        const found = await direct(`SELECT to_regclass('s${schemas}.sluice_states')`, replica)
        return found.rows[0]?.to_regclass
      }
      await until(isCopied, { what: 'the replica has the table' })
      proxy.retarget(replica.port)
      proxy.cut()
      await running.untilDecidedBy('local')
      await running.untilDecided(300)
      await direct('SELECT pg_promote()', replica)
      const normalMs = await running.untilDecidedBy('store')
      expect(warningCodes.at(0)).toBe('SLUICE_STORE_DOWN')
      expect(warningCodes.at(-1)).toBe('SLUICE_STORE_UP')
      await running.untilNormal(300)
      conclude(9, 'failover to a replica', await running.stop(), { bound: LIMIT, normalMs })
    } finally {
      await pool.end()
      await replica.stop()
      pool = new Pool({ connectionString: server.url })
    }
  })

  test('its disk is full: the table can not grow, so clients without a row have no place', async () => {
    const store = await newStore()
    const running = startLoad(store)
    const newcomers = createLimiter({ ...patient, store, limit: 5, window: '1d', prefix: 'new' })
    let count = 0
    const nextIsDecidedBy = async (source: string) => {
      count += 1
      return (await newcomers.consume(`client ${count}`)).source === source
    }
    const table = `s${schemas}.sluice_states`
    await running.untilDecided(200)
    // Above the size of a file of the server's log, so that only the table is larger.
    await direct(
      `INSERT INTO ${table} SELECT 'filler' || i, '', 9e15::bigint FROM generate_series(1, 20000) i`,
    )
    const { rows } = await direct(`SELECT pg_relation_size('${table}') AS bytes`)
    // Half a page more: a write that is cut short says that there is no space.
    await server.limitFiles(Number(rows[0].bytes) + 4096)
    const isFull = async () => {
      const isLocal = await nextIsDecidedBy('local')
      return isLocal && server.log().includes('could not extend file')
    }
    await until(isFull, { what: 'the disk is full' })
    await running.untilDecided(300)
    await server.limitFiles('unlimited')
    const began = performance.now()
    await until(() => nextIsDecidedBy('store'), { what: 'there is space again' })
    const normalMs = performance.now() - began
    await running.untilDecided(300)
    conclude(10, 'disk full: the table cannot grow', await running.stop(), {
      bound: LIMIT,
      normalMs,
    })
  })

  test('its disk is full: it can not write its log, and ends', async () => {
    const running = await load()
    await running.untilNormal(200)
    await server.limitFiles(8192)
    await until(() => server.log().includes('PANIC'), { what: 'it ends' })
    await running.untilDecidedBy('local')
    await running.untilDecided(300)
    await server.kill()
    await server.restart()
    const normalMs = await running.untilDecidedBy('store')
    expect(warningCodes).toEqual(DOWN_AND_UP)
    await running.untilNormal(300)
    conclude(11, 'disk full: it cannot write its log, and ends', await running.stop(), {
      bound: LIMIT,
      normalMs,
    })
  })
})
