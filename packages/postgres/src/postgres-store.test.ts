import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { createLimiter, type Limiter, type LimiterOptions } from '@sluice/core'
import { ALGORITHM_NAMES } from '@sluice/core/algorithms'
import { describeUnless } from '@sluice/test-harness/jest'
import { type PostgresServer, startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { runInProcesses } from '@sluice/test-harness/processes'
import { patient, type RedisProxy, startProxy, until } from '@sluice/test-harness/redis'
import { Client, Pool, type QueryResult } from 'pg'
import { type PostgresStore, postgresStore } from './index.ts'
import type { Result } from './pool.ts'
import { Statements } from './statements.ts'

const worker = new URL(`file://${__dirname}/testing/workers/consuming.ts`)

test.each([
  ['nothing', undefined],
  ['a URL', 'postgres://127.0.0.1/postgres'],
  ['a single client', { connect() {}, query() {}, on() {} }],
])('%s is no pool', (_, pool) => {
  expect(() => postgresStore(pool as never)).toThrow(
    expect.objectContaining({ code: 'SLUICE_STORE_UNKNOWN', option: 'pool' }),
  )
})

test('options are checked', () => {
  const pool = new Pool()
  const code = (options: object) => {
    try {
      return postgresStore(pool, options)
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  expect(code({ table: 'limits' })).toBe('SLUICE_OPTION_UNKNOWN')
  expect(code({ schema: '' })).toBe('SLUICE_OPTION_VALUE')
  expect(code({ logged: 'yes' })).toBe('SLUICE_OPTION_TYPE')
})

describeUnless(whyNoPostgres(), 'PostgreSQL', () => {
  let server: PostgresServer
  let pool: Pool
  const limiters: Limiter<'async'>[] = []

  beforeAll(async () => {
    server = await startPostgres()
    pool = new Pool({ connectionString: server.url })
    await postgresStore(pool).migrate()
  })
  afterAll(async () => {
    await pool.end()
    await server.stop()
  })
  afterEach(() => {
    for (const limiter of limiters.splice(0)) limiter.close()
    jest.restoreAllMocks()
  })

  let prefixes = 0
  function limit(options: object): Limiter<'async'> {
    prefixes += 1
    const limiter = createLimiter({
      ...patient,
      store: postgresStore(pool),
      prefix: `test-${prefixes}`,
      window: '1d',
      ...options,
    } as unknown as LimiterOptions) as Limiter<'async'>
    limiters.push(limiter)
    return limiter
  }

  const rows = async (like = `test-${prefixes}:%`) => {
    const text = 'SELECT key, state, expires FROM sluice_states WHERE key LIKE $1 ORDER BY key'
    const { rows } = await pool.query(text, [like])
    // Not the documents.
    return rows.filter(({ key }) => !key.includes(':{#}:'))
  }

  describe('several processes', () => {
    test('that ask for 300 get 100, whatever the order in which they ask for the keys', async () => {
      const keys = ['a', 'b', 'c']
      // Each process asks in another order: none waits for the other in a circle.
      const runs = [keys, keys.toReversed()].map((ordered) =>
        runInProcesses<Record<string, number>>(worker, 1, {
          url: server.url,
          times: 150,
          keys: ordered,
        }),
      )
      const counts = (await Promise.all(runs)).flat()
      const sums = keys.map((key) => counts.reduce((sum, each) => sum + (each[key] ?? 0), 0))
      expect(sums).toEqual([100, 100, 100])
      expect(server.log()).not.toContain('deadlock')
    })

    test('of two versions, one with a limit of 100 and one of 120, get 120 together', async () => {
      // Now is the middle of such a window: none ends during the test, and no bucket drains.
      const versions = { limits: [100, 120], window: Math.floor(Date.now() / 6.5) }
      const work = { url: server.url, times: 150, keys: ALGORITHM_NAMES, versions }
      const counts = await runInProcesses<Record<string, number>>(worker, 2, work)
      for (const key of ALGORITHM_NAMES) {
        const together = counts.reduce((sum, each) => sum + (each[key] ?? 0), 0)
        expect(together).toBeLessThanOrEqual(120)
        // Less than a unit is rounded against the client where the versions take turns with a bucket.
        expect(together).toBeGreaterThanOrEqual(key.endsWith('bucket') ? 100 : 120)
      }
    })
  })

  describe('a transaction', () => {
    let proxy: RedisProxy
    let proxied: Pool
    beforeAll(async () => {
      proxy = await startProxy(server)
      proxied = new Pool({
        connectionString: server.url.replace(`${server.port}`, `${proxy.port}`),
      })
    })
    afterAll(async () => {
      await proxied.end()
      await proxy.stop()
    })

    test('of one key has one round trip, if this process was the last to use the key', async () => {
      // Which networks are blocked is read apart.
      const store = { ...postgresStore(proxied), documents: undefined }
      const limiter = limit({ store, limit: 5 })
      await limiter.peek('connected')
      const trips = async (act: () => unknown) => {
        const before = proxy.counts.requestChunks
        await act()
        return proxy.counts.requestChunks - before
      }
      // Which keyspaces there are is kept after the first one.
      await limiter.consume('other')
      const kept = 'SELECT 1 FROM sluice_states WHERE starts_with(key, $1)'
      const areKept = async () => (await pool.query(kept, [`test-${prefixes}:{#}`])).rows.length > 0
      await until(areKept, { what: 'they are kept' })

      expect(await trips(() => limiter.consume('client'))).toBe(2)
      const further = await trips(() => Promise.all([1, 2, 3].map(() => limiter.consume('client'))))
      // On a busy machine the server's time may have been guessed wrong.
      expect([1, 3]).toContain(further)
      expect(await trips(() => limiter.peek('client'))).toBe(1)
      expect(await limiter.peek('client')).toMatchObject({ remaining: 1 })
    })

    test('has two round trips, for all requests of a turn', async () => {
      const store = { ...postgresStore(proxied), documents: undefined }
      const limiter = limit({ store, limit: 5 })
      await limiter.peek('connected')
      const before = { ...proxy.counts }
      const decisions = await Promise.all(
        Array.from({ length: 20 }, (_, i) => limiter.consume(`client-${i % 2}`)),
      )
      expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10)
      expect(proxy.counts.requestChunks - before.requestChunks).toBe(2)
      expect(proxy.counts.connections).toBe(before.connections)
    })

    test('leaves nothing of keys that it has only read', async () => {
      const limiter = limit({ limit: 5 })
      await limiter.peek('nobody')
      await limiter.consume('nobody', { cost: 0 })
      await Promise.all([limiter.peek('nobody'), limiter.consume('somebody')])
      expect((await rows()).map(({ key }) => key)).toEqual([expect.stringContaining('{somebody}')])
    })

    test('starts with a connection that breaks in the moment in which it is handed out', async () => {
      const limiter = limit({ limit: 5 })
      await limiter.peek('connected')
      const isBroken = new Promise((resolve) => {
        pool.once('acquire', (client) =>
          process.nextTick(() => resolve(client.emit('error', new Error('broken')))),
        )
      })
      const { allowed } = await limiter.consume('client')
      expect([allowed, await isBroken]).toEqual([true, true])
    })

    test('has keys with quotes and backslashes, under every setting', async () => {
      const settings =
        '-c standard_conforming_strings=off -c backslash_quote=on -c bytea_output=escape'
      const odd = new Pool({ connectionString: `${server.url}?options=${encodeURI(settings)}` })
      const limiter = limit({ store: postgresStore(odd), limit: 1 })
      for (const key of ["o'brien", '\\', "\\'; DROP TABLE sluice_states; --", '$$', '%s']) {
        expect(await limiter.consume(key)).toMatchObject({ allowed: true, source: 'store' })
        expect(await limiter.consume(key)).toMatchObject({ allowed: false, source: 'store' })
      }
      expect(await rows()).toHaveLength(5)
      await odd.end()
    })

    test('writes rows by their places, however many there are of them and of others', async () => {
      const statements = new Statements('public', false)
      await pool.query(
        "INSERT INTO sluice_states SELECT 'other-' || i, '', 9e15 FROM generate_series(1, 20000) i; ANALYZE sluice_states",
      )
      for (const count of [1, 500]) {
        const keys = Array.from({ length: count }, (_, i) => `place-${1000 + i}`)
        const holder = new Client({ connectionString: server.url })
        await holder.connect()
        const text = statements.lock(keys, 10_000).join(';')
        const read = (await holder.query({ text, rowMode: 'array' })) as unknown as Result[]
        const rows = read.at(-1)?.rows as [string, string | null, string, string][]
        const places = new Map(rows.map(([key, , , place]) => [key, place]))
        const changes = keys.map((key) => ({ key, state: new Uint8Array(1), ttlMs: 1 }))
        const [put = ''] = statements.write(changes, [], places, 0)
        const [remove = ''] = statements.write(
          [{ ...changes[0]!, state: undefined }],
          [],
          places,
          0,
        )
        for (const write of [put, remove]) {
          const plan = (await holder.query(`EXPLAIN ${write}`)).rows.map((row) => row['QUERY PLAN'])
          expect(plan.join()).toContain('Tid Scan')
          expect(plan.join()).not.toContain('Seq Scan')
        }
        await holder.query(`${put}; COMMIT`)
        await holder.end()
        const written =
          'SELECT count(*) FROM sluice_states WHERE key = ANY ($1) AND expires = 60000'
        expect((await pool.query(written, [keys])).rows[0].count).toBe(`${count}`)
      }
      await pool.query("DELETE FROM sluice_states WHERE key LIKE 'other-%' OR key LIKE 'place-%'")
    })

    test('takes its locks in the order of the keys: two with the same keys never wait for each other', async () => {
      const limiter = limit({ limit: 5 })
      const keys = Array.from({ length: 20 }, (_, i) => `client-${String(i).padStart(2, '0')}`)
      const consume = () => Promise.all(keys.map((key) => limiter.consume(key)))
      await consume()
      const like = (key: string) => `test-${prefixes}:{${key}}:%`
      const text = 'SELECT key FROM sluice_states WHERE key LIKE $1 FOR UPDATE'
      const holder = await pool.connect()
      await holder.query('BEGIN')
      await holder.query(text, [like('client-10')])
      const waiting = consume()
      const waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
      const isWaiting = async () => (await pool.query(waits)).rows.length > 0
      await until(isWaiting, { what: 'the transaction waits for a lock' })
      const isFree = async (key: string) =>
        (await pool.query(`${text} SKIP LOCKED`, [like(key)])).rows.length > 0
      const free = [await isFree('client-09'), await isFree('client-11')]
      await holder.query('COMMIT')
      holder.release()
      expect((await waiting).map(({ remaining }) => remaining)).toEqual(Array(20).fill(3))
      expect(free).toEqual([false, true])
    })

    test('reads the clock after it has its locks', async () => {
      const policy = { limit: 5, window: '1d', algorithm: 'sliding-log' }
      const policies = [
        { ...policy, name: 'one' },
        { ...policy, name: 'other' },
      ]
      const limiter = limit({ window: undefined, policies })
      await limiter.consume('client')
      const holder = await pool.connect()
      await holder.query('BEGIN; SELECT * FROM sluice_states FOR UPDATE')
      const waiting = limiter.consume('client')
      const isWaiting = async () => {
        const text = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        return (await pool.query(text)).rows.length > 0
      }
      await until(isWaiting, { what: 'the transaction waits for the lock' })
      // A decision on what is remembered may be a few milliseconds early.
      await holder.query('SELECT pg_sleep(0.02)')
      const { rows: times } = await holder.query(
        "SELECT clock_timestamp() - interval '10 ms' AS now",
      )
      await holder.query('COMMIT')
      holder.release()
      expect((await waiting).at).toBeGreaterThanOrEqual(times[0].now.getTime())
    })
  })

  describe('a key without a lock', () => {
    /** Limiters of the same keys, as of several processes. */
    const several = (stores: readonly PostgresStore[], options: object = {}) => {
      const prefix = `shared-${prefixes}`
      return stores.map((store) => limit({ limit: 30, store, prefix, ...options }))
    }
    const pools: Pool[] = []
    const poolWith = (settings: string) => {
      const added = new Pool({ connectionString: `${server.url}?options=${encodeURI(settings)}` })
      pools.push(added)
      return added
    }
    afterEach(() => Promise.all(pools.splice(0).map((each) => each.end())))

    test.each(['read committed', 'repeatable read', 'serializable'])(
      'admits exactly its limit to four stores, also with the isolation %s',
      async (isolation) => {
        const settings = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
        const own = poolWith(settings)
        const limiters = several([1, 2, 3, 4].map(() => postgresStore(own)))
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
      },
    )

    test('two that guess the same state at the same time are both counted', async () => {
      const clock = () => 1_800_000_000_000
      const limiters = several([1, 2].map(() => postgresStore(pool, { clock })))
      const [one, two] = limiters as [Limiter<'async'>, Limiter<'async'>]
      await one.consume('client')
      // It reads, so that both know the same.
      await two.peek('client')
      // The states that both would write are equal too, to the last byte.
      const holder = await pool.connect()
      await holder.query('BEGIN; SELECT * FROM sluice_states FOR UPDATE')
      const decisions = limiters.map((each) => each.consume('client'))
      const areWaiting = async () => {
        const text = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        return (await pool.query(text)).rows.length >= 2
      }
      await until(areWaiting, { what: 'both wait for the row' }).finally(() => holder.release(true))
      const remaining = (await Promise.all(decisions)).map((each) => each.remaining)
      expect(remaining.sort()).toEqual([27, 28])
    })

    test.each(['DELETE FROM sluice_states', 'TRUNCATE sluice_states'])(
      'that vanishes starts anew, and leaves no row without a state: %s',
      async (text) => {
        const limiter = limit({ limit: 5 })
        await limiter.consume('client')
        await limiter.consume('client')
        await pool.query(text)
        expect(await limiter.consume('client')).toMatchObject({ remaining: 4, source: 'store' })
        expect((await rows()).map(({ state }) => state)).toEqual([expect.any(Buffer)])
      },
    )

    test('that another process resets is full for those that remember it', async () => {
      const limiters = several([1, 2].map(() => postgresStore(pool)))
      const [limiter, operator] = limiters as [Limiter<'async'>, Limiter<'async'>]
      await limiter.consume('client', { cost: 20 })
      await operator.reset('client')
      expect(await limiter.peek('client')).toMatchObject({ remaining: 30 })
      await limiter.consume('client', { cost: 10 })
      await operator.reset('client')
      expect(await limiter.consume('client')).toMatchObject({ remaining: 29 })
    })

    test('is written in time or not at all: what a frozen server does later charges nothing', async () => {
      const frozen = await startPostgres()
      const thawed = new Pool({ connectionString: frozen.url, max: 1 })
      try {
        const store = postgresStore(thawed)
        await store.migrate()
        const options = { store, limit: 5, prefix: 'frozen' }
        const prompt = limit({ ...options, deadline: 50, onStoreError: 'deny' })
        const patient = limit(options)
        for (let i = 0; i < 2; i += 1) await patient.consume('client')
        frozen.pause()
        expect(await prompt.consume('client')).toMatchObject({ source: 'deny' })
        frozen.resume()
        const isUsed = async () => (await patient.peek('client')).source === 'store'
        await until(isUsed, { what: 'the store decides again' })
        const idle =
          "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()"
        const isDone = async () => (await thawed.query(idle)).rows.length === 0
        await until(isDone, { what: 'the server has done what it was sent' })
        expect(await patient.peek('client')).toMatchObject({ remaining: 3, source: 'store' })
      } finally {
        await thawed.end()
        await frozen.stop()
      }
    })

    test('is decided on connections that lose their statements, or end', async () => {
      const own = new Pool({ connectionString: server.url, max: 1 })
      pools.push(own)
      const limiter = limit({ limit: 9, store: postgresStore(own) })
      for (let i = 0; i < 2; i += 1) await limiter.consume('client')
      await own.query('DISCARD ALL')
      expect(await limiter.consume('client')).toMatchObject({ remaining: 6, source: 'store' })
      const kept = 'SELECT name FROM pg_prepared_statements'
      expect((await own.query(kept)).rows).toEqual([])
      await pool.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_prepared_statements%' AND pid <> pg_backend_pid()",
      )
      const isClosed = () => own.totalCount === 0
      await until(isClosed, { what: 'the connection has ended' })
      expect(await limiter.consume('client')).toMatchObject({ remaining: 5, source: 'store' })
    })

    test('waits for a table that somebody alters in four statements at most, which write nothing later', async () => {
      const prefix = 'altered'
      const patient = limit({ prefix, limit: 50 })
      const prompt = limit({ prefix, limit: 50, deadline: 50, onStoreError: 'deny' })
      const keys = Array.from({ length: 20 }, (_, i) => `client-${i}`)
      for (const key of keys) {
        // On a busy machine it may be too late, and yet charge.
        const isUsed = async () => (await prompt.consume(key)).source === 'store'
        await until(isUsed, { what: 'the store decides' })
      }
      const remaining = async () => {
        const each = []
        for (const key of keys) each.push((await patient.peek(key)).remaining)
        return each
      }
      const before = await remaining()
      const holder = await pool.connect()
      const waiting = async () => {
        const text = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        return (await holder.query(text)).rows.length
      }
      try {
        await holder.query('BEGIN; LOCK TABLE sluice_states')
        for (const key of keys) expect((await prompt.consume(key)).source).toBe('deny')
        // Those that lock are ended by the server.
        await until(async () => (await waiting()) <= 4, { what: 'no more than four wait' })
        await holder.query('COMMIT')
      } finally {
        holder.release(true)
      }
      expect(await remaining()).toEqual(before)
    })

    test('is written without a scan: a plan that is kept is right when the table has grown', async () => {
      const own = new Pool({ connectionString: server.url, max: 1 })
      pools.push(own)
      const limiter = limit({ limit: 50, store: postgresStore(own) })
      await limiter.consume('first')
      const written = 'SELECT 1 FROM sluice_states WHERE key LIKE $1'
      await until(async () => (await own.query(written, ['%keyspaces-version'])).rowCount !== 0, {
        what: 'the keyspaces are written',
      })
      // After five executions a plan is kept: of what a client takes who has nothing of its own.
      for (let i = 0; i < 10; i += 1) await limiter.consume('client')
      const kept = 'SELECT name FROM pg_prepared_statements WHERE generic_plans > 0'
      const prepared = await own.query(kept)
      expect(prepared.rows).toEqual([{ name: new Statements('public', false).writeOne.name }])
      const [{ name }] = prepared.rows
      const explained = await own.query(`EXPLAIN EXECUTE ${name} ('1', 0, 1, 'key', NULL, NULL, 0)`)
      const plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(plan).toContain('sluice_states_pkey')
      expect(plan).not.toContain('Scan')
    })

    describe('or several of them', () => {
      // What was charged in the window before fades: none begins during a test.
      const policies = ['day', 'week'].map((name, i) => ({
        name,
        limit: 1000,
        window: 86_400_000 * 7 ** i,
      }))

      test('are one round trip, if this process was the last to use them', async () => {
        const own = new Pool({ connectionString: server.url, max: 1 })
        pools.push(own)
        const limiter = limit({
          window: undefined,
          limit: undefined,
          policies,
          store: postgresStore(own),
        })
        await limiter.consume('client')
        const lone = "SELECT calls FROM pg_stat_user_functions WHERE funcname = 'sluice_write'"
        await own.query("SET track_functions = 'all'")
        for (let i = 0; i < 20; i += 1) await limiter.consume('client')
        await own.query('SELECT pg_stat_force_next_flush()').catch(() => {})
        const counted = async () => Number((await pool.query(lone)).rows[0]?.calls ?? 0) >= 20
        await until(counted, { what: 'the calls of the function are counted' })
        expect(await limiter.peek('client')).toMatchObject({ remaining: 979 })
      })

      test('are found without a scan when the table has grown', async () => {
        const own = new Pool({ connectionString: server.url, max: 1 })
        pools.push(own)
        await pool.query('CREATE SCHEMA grown')
        const store = postgresStore(own, { schema: 'grown' })
        await store.migrate()
        await pool.query('ALTER TABLE grown.sluice_states SET (autovacuum_enabled = off)')
        const limiter = limit({ window: undefined, limit: undefined, policies, store })
        await limiter.consume('client')
        // A small table would be scanned.
        await pool.query('VACUUM ANALYZE grown.sluice_states')
        for (let i = 0; i < 10; i += 1) await limiter.consume('client')
        await pool.query(
          "INSERT INTO grown.sluice_states SELECT 'other-' || i, '', 9e15 FROM generate_series(1, 20000) i",
        )
        const explain =
          "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on; SET client_min_messages = log"
        await own.query(explain)
        const plans: string[] = []
        const client = await own.connect()
        client.on('notice', ({ message }) => plans.push(message ?? ''))
        client.release()
        for (let i = 0; i < 10; i += 1) await limiter.consume('client')
        const written = plans.filter((plan) => plan.includes('Update on sluice_states'))
        expect(written.length).toBeGreaterThan(0)
        expect(written.join('\n')).not.toContain('Seq Scan')
      })

      test('two processes that share some of them lose nothing, and deadlock never', async () => {
        const stores = [1, 2, 3].map(() => {
          const own = new Pool({ connectionString: server.url, max: 2 })
          pools.push(own)
          return postgresStore(own)
        })
        const prefix = `shared-${prefixes}`
        const limiters = stores.map((store) =>
          limit({ window: undefined, limit: undefined, policies, store, prefix, deadline: 10_000 }),
        )
        const before = await deadlocks()
        const consuming = limiters.map(async (limiter) => {
          for (let i = 0; i < 60; i += 1) {
            const { source } = await limiter.consume(`client-${i % 2}`)
            expect(source).toBe('store')
          }
        })
        await Promise.all(consuming)
        for (const key of ['client-0', 'client-1'])
          expect(await limiters[0]?.peek(key)).toMatchObject({ remaining: 910 })
        expect(await deadlocks()).toBe(before)
      })

      async function deadlocks(): Promise<number> {
        const text = 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()'
        return Number((await pool.query(text)).rows[0].deadlocks)
      }
    })
  })

  test('a lock is waited for as long as the deadline allows, whatever lock_timeout the user has', async () => {
    const hasty = new Pool({
      connectionString: `${server.url}?options=${encodeURI('-c lock_timeout=1')}`,
    })
    const limiter = limit({ store: postgresStore(hasty), limit: 5 })
    await limiter.consume('client')
    const holder = await pool.connect()
    await holder.query('BEGIN; SELECT * FROM sluice_states FOR UPDATE')
    const waiting = limiter.consume('client')
    const longer = "now() - query_start > '20 ms'"
    const isWaiting = async () => {
      const text = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND ${longer}`
      return (await pool.query(text)).rows.length > 0
    }
    await until(isWaiting, { what: 'the transaction waits for the lock' })
    await holder.query('COMMIT')
    holder.release()
    expect(await waiting).toMatchObject({ source: 'store', remaining: 3 })
    await hasty.end()
  })

  test('a process that stops in the middle of a transaction loses its locks', async () => {
    const limiter = limit({ limit: 5 })
    await limiter.consume('client')
    const [{ key }] = await rows()
    const stopped = await pool.connect()
    const ended = new Promise((resolve) => stopped.on('error', resolve))
    await stopped.query(new Statements('public', false).lock([key], 200).join(';'))
    expect(await limiter.consume('client')).toMatchObject({ remaining: 3, source: 'store' })
    expect(await ended).toMatchObject({ code: '25P03' })
    stopped.release(true)
  })

  test('what waits for the pool longer than the deadline is abandoned, and charges nothing', async () => {
    const one = new Pool({ connectionString: server.url, max: 1 })
    const store = postgresStore(one)
    const prompt = limit({ store, limit: 5, deadline: 50, onStoreError: 'deny' })
    const patient = limit({ store, limit: 5, prefix: `test-${prefixes}` })
    await patient.peek('client')
    const held = await one.connect()
    for (let i = 0; i < 3; i += 1) {
      expect(await prompt.consume('client')).toMatchObject({ allowed: false, source: 'deny' })
    }
    held.release()
    // On a busy machine the process may have found its store down.
    const isUsed = async () => (await patient.peek('client')).source === 'store'
    await until(isUsed, { what: 'the store decides again' })
    expect(await patient.peek('client')).toMatchObject({ remaining: 5, source: 'store' })
    expect(one.waitingCount).toBe(0)
    await one.end()
  })

  describe('the table', () => {
    test('is never created silently: the warning has its statement', async () => {
      const warnings: string[] = []
      jest.spyOn(process, 'emitWarning').mockImplementation(((message: string) => {
        warnings.push(message)
      }) as never)
      const store = postgresStore(pool, { schema: 'odd "name"' })
      const limiter = limit({ store, limit: 5 })
      expect(await limiter.consume('client')).toMatchObject({ allowed: true, source: 'local' })
      const [warning] = warnings
      expect(warning).toContain('SLUICE_POSTGRES_TABLE')
      const create = /run: (.*;) Expected/.exec(warning as string)?.[1] as string
      expect(create).toContain('CREATE UNLOGGED TABLE IF NOT EXISTS "odd ""name""".sluice_states')

      await expect(store.migrate()).rejects.toMatchObject({ code: 'SLUICE_POSTGRES_TABLE' })
      await pool.query(`CREATE SCHEMA "odd ""name"""; ${create}`)
      const isUsed = async () => (await limiter.consume('client')).source === 'store'
      await until(isUsed, { what: 'the store decides' })
      expect(warnings.at(-1)).toContain('SLUICE_STORE_UP')
    })

    test('has in docs/postgresql.md the statements that create it', () => {
      const page = readFileSync(join(__dirname, '../../../docs/postgresql.md'), 'utf8').replace(
        /\s+/g,
        ' ',
      )
      for (const statement of new Statements('public', false).create)
        expect(page).toContain(statement)
    })

    test('is created once, however many processes do it at the same time', async () => {
      await pool.query('CREATE SCHEMA several')
      const store = () => postgresStore(pool, { schema: 'several', logged: true })
      await Promise.all(Array.from({ length: 5 }, () => store().migrate()))
      await store().migrate()
      const kinds = await pool.query(
        "SELECT nspname, relpersistence FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relname = 'sluice_states' ORDER BY 1",
      )
      expect(kinds.rows).toContainEqual({ nspname: 'several', relpersistence: 'p' })
      expect(kinds.rows).toContainEqual({ nspname: 'public', relpersistence: 'u' })
    })

    test('that exists need not be created: migrate() succeeds with the grants of an application', async () => {
      await pool.query(`
        CREATE ROLE application LOGIN;
        GRANT USAGE ON SCHEMA public TO application;
        GRANT SELECT, INSERT, UPDATE, DELETE ON sluice_states TO application;
        CREATE SCHEMA empty;
        GRANT USAGE ON SCHEMA empty TO application`)
      const url = server.url.replace('postgres@', 'application@')
      const permitted = new Pool({ connectionString: url })
      const store = postgresStore(permitted)
      await store.migrate()
      const limiter = limit({ store, limit: 5 })
      expect(await limiter.consume('client')).toMatchObject({ source: 'store' })

      const error = await postgresStore(permitted, { schema: 'empty' }).migrate().catch(String)
      expect(error).toContain('SLUICE_POSTGRES_FORBIDDEN')
      expect(error).toContain('CREATE UNLOGGED TABLE IF NOT EXISTS "empty".sluice_states')
      expect(error).not.toContain('GRANT')
      await permitted.end()
    })

    test('without its index is not complete: migrate() creates that', async () => {
      await pool.query('CREATE SCHEMA partial')
      const store = postgresStore(pool, { schema: 'partial' })
      await store.migrate()
      await pool.query('DROP INDEX partial.sluice_states_expires')
      await store.migrate()
      const { rows } = await pool.query("SELECT to_regclass('partial.sluice_states_expires')::text")
      expect(rows[0].to_regclass).toBe('partial.sluice_states_expires')
    })

    test.each([
      ['SLUICE_POSTGRES_FORBIDDEN', 'CREATE ROLE guest LOGIN', 'guest', 'postgres'],
      ['SLUICE_POSTGRES_AUTH', 'SELECT 1', 'nobody-such', 'postgres'],
      ['SLUICE_POSTGRES_AUTH', 'SELECT 1', 'postgres', 'no-such-database'],
    ])('%s: the error says what is wrong', async (code, setUp, user, database) => {
      await pool.query(setUp)
      const { host, port } = server
      const wrong = new Pool({ host, port, user, database })
      const limiter = limit({ store: postgresStore(wrong), limit: 5 })
      const error = await Promise.resolve(limiter.reset('client')).catch((thrown) => thrown)
      expect(error).toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE', cause: { code } })
      await wrong.end()
    })
  })

  test('every key is listed, however many there are, by a user who may only read', async () => {
    const limiter = limit({ limit: 5 })
    const prefix = `test-${prefixes}`
    const keys = Array.from({ length: 1100 }, (_, i) => `user:${i}`)
    await Promise.all(keys.map((key) => limiter.consume(key)))
    await pool.query("INSERT INTO sluice_states VALUES ($1 || ':{a}:junk', '', 9e15)", [prefix])
    await pool.query('CREATE ROLE reader LOGIN; GRANT SELECT ON sluice_states TO reader')
    const reader = new Pool({ connectionString: server.url.replace('postgres@', 'reader@') })
    const listed = async (options: object) => {
      const found = []
      for await (const { key, used } of postgresStore(reader).inspect({ prefix, ...options }))
        found.push([key, used])
      return found.sort()
    }
    expect(await listed({})).toEqual(keys.map((key) => [key, 1]).sort())
    expect(await listed({ key: 'user:7' })).toEqual([['user:7', 1]])
    await reader.end()
  })

  describe('expired rows', () => {
    const MINUTE = 60_000
    async function add(count: number, expires: number): Promise<void> {
      await pool.query(
        `INSERT INTO sluice_states SELECT 'old-' || $2::bigint || '-' || i, '', $2::bigint FROM generate_series(1, $1::int) i`,
        [count, expires],
      )
    }

    test('are deleted some time after a write, in batches, and no others', async () => {
      const now = 1_500_000_000_000
      await add(2500, now - MINUTE)
      await add(3, now + MINUTE)
      jest.spyOn(Math, 'random').mockReturnValue(0.5)
      const query = jest.spyOn(Client.prototype, 'query')
      jest.useFakeTimers({
        doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'],
      })
      const store = postgresStore(pool, { clock: () => now })
      await limit({ store, limit: 5 }).consume('client')
      const left = async () => (await rows('old-%')).length
      expect(await left()).toBe(2503)
      jest.advanceTimersByTime(60_000)
      // The pauses between the batches are short.
      jest.useRealTimers()
      await until(async () => (await left()) <= 3, { what: 'rows are deleted' })
      store.close()
      const sweeps = query.mock.calls.flatMap(([sent]: unknown[], i) => {
        // A store of an earlier test may delete rows too, by its own clock.
        const isSweep = (sent as { text?: string }).text?.includes(`expires <= ${now} `)
        return isSweep ? (query.mock.results[i]?.value as unknown as Promise<QueryResult[]>) : []
      })
      const deleted = (await Promise.all(sweeps)).map((results) => Number(results.at(-1)?.rows[0]))
      expect(deleted).toEqual([1000, 1000, 500])
      expect(await rows()).toHaveLength(1)
    })

    test('are left to the process that deletes them now', async () => {
      await add(1, 0)
      const other = await pool.connect()
      const sweep = new Statements('public', false).sweep(10, 1, 1000)
      expect(await other.query(['BEGIN', ...sweep].join(';'))).toHaveProperty('2.rows', [
        { count: '1' },
      ])
      await add(1, 1)
      expect(await pool.query(sweep.join(';'))).toHaveProperty('1.rows', [{ count: '0' }])
      await other.query('COMMIT')
      other.release()
      expect(await pool.query(sweep.join(';'))).toHaveProperty('1.rows', [{ count: '1' }])
    })

    test('are rounded up, so that a state is kept for as long as it matters', async () => {
      const limiter = limit({ limit: 5, window: '1m', algorithm: 'fixed-window' })
      const { at, resetMs } = await limiter.consume('client')
      const [row] = await rows()
      expect(Number(row.expires)).toBeGreaterThanOrEqual((at as number) + resetMs)
      expect(Number(row.expires) % MINUTE).toBe(0)
    })
  })
})
