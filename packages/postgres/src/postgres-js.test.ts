import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { createLimiter, type Limiter, type LimiterOptions } from '@sluice/core'
import { describeUnless } from '@sluice/test-harness/jest'
import { type PostgresServer, startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { runInProcesses } from '@sluice/test-harness/processes'
import { patient, until } from '@sluice/test-harness/redis'
import postgres from 'postgres'
import { postgresStore } from './index.ts'

const worker = new URL(`file://${__dirname}/testing/workers/consuming.ts`)

test('a client that transforms rows is refused: even raw columns pass through it', () => {
  const client = postgres({ transform: { row: (row) => row } })
  expect(() => postgresStore(client)).toThrow(
    expect.objectContaining({ code: 'SLUICE_STORE_UNKNOWN', option: 'pool' }),
  )
})

describeUnless(whyNoPostgres(), 'a client of postgres.js', () => {
  let server: PostgresServer
  let client: postgres.Sql
  const clients: postgres.Sql[] = []
  const limiters: Limiter<'async'>[] = []
  const connect = (options: Parameters<typeof postgres>[1] = {}) => {
    const added = postgres(server.url, options) as postgres.Sql
    clients.push(added)
    return added
  }

  beforeAll(async () => {
    server = await startPostgres()
    client = postgres(server.url)
    await postgresStore(client).migrate()
  })
  afterAll(async () => {
    await client.end({ timeout: 1 })
    await server.stop()
  })
  afterEach(async () => {
    for (const limiter of limiters.splice(0)) limiter.close()
    await Promise.all(clients.splice(0).map((each) => each.end({ timeout: 1 })))
  })

  let prefixes = 0
  function limit(options: object): Limiter<'async'> {
    prefixes += 1
    const limiter = createLimiter({
      ...patient,
      store: postgresStore(client),
      prefix: `postgres-js-${prefixes}`,
      window: '1d',
      limit: 5,
      ...options,
    } as unknown as LimiterOptions) as Limiter<'async'>
    limiters.push(limiter)
    return limiter
  }

  describe('is used whatever its options are, and stays as it is', () => {
    const fail = () => {
      throw new Error('a type of the user')
    }
    const oids = [17, 20, 25, 701, 1000, 1001, 1009, 1016, 1700]
    const types = Object.fromEntries(
      oids.map((oid) => [`type${oid}`, { to: oid, from: [oid], serialize: fail, parse: fail }]),
    )
    const ways: Record<string, Parameters<typeof postgres>[1]> = {
      'without prepared statements': { prepare: false },
      'with names in camel case': { transform: postgres.camel },
      'with values that are transformed': {
        transform: { value: (value) => (typeof value === 'string' ? 'no' : value) },
      },
      'with types of its own': { types, fetch_types: false },
      'with bigints': { types: { bigint: postgres.BigInt } },
      'with one connection': { max: 1, fetch_types: false },
      'with settings of the session': {
        connection: { default_transaction_isolation: 'serializable', lock_timeout: 1 },
      },
    }
    test.each(Object.keys(ways))('%s', async (way) => {
      const own = connect({ ...ways[way] })
      const described = () => ({ keys: Object.keys(own), options: { ...own.options } })
      const before = described()
      const limiter = limit({ store: postgresStore(own) })
      expect(await limiter.consume('a', { cost: 2 })).toMatchObject({ source: 'store' })
      expect(await limiter.consume("'\\'")).toMatchObject({ remaining: 4, source: 'store' })
      const keys = Array.from({ length: 40 }, (_, i) => `client-${i % 20}`)
      const together = await Promise.all(keys.map((key) => limiter.consume(key)))
      expect(together.map(({ source }) => source)).toEqual(Array(40).fill('store'))
      expect(together.at(-1)).toMatchObject({ remaining: 3 })
      expect(await limiter.consume('a')).toMatchObject({ remaining: 2, source: 'store' })
      expect(described()).toEqual(before)
    })
  })

  test('creates the table without a notice of what is there, which postgres.js prints', async () => {
    await client`DROP INDEX sluice_states_expires`
    const notices: unknown[] = []
    await postgresStore(connect({ onnotice: (notice) => notices.push(notice) })).migrate()
    expect(await client`SELECT to_regclass('sluice_states_expires')::text AS name`).toMatchObject([
      { name: 'sluice_states_expires' },
    ])
    expect(notices).toEqual([])
  })

  test.each([
    ['SLUICE_POSTGRES_TABLE', 'postgres', { schema: 'nowhere' }],
    ['SLUICE_POSTGRES_AUTH', 'nobody', {}],
  ])('%s: the error says what is wrong', async (code, user, options) => {
    const limiter = limit({ store: postgresStore(connect({ user }), options) })
    const error = await Promise.resolve(limiter.reset('client')).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE', cause: { code } })
  })

  test('keys that others change are decided again until nobody was faster', async () => {
    const prefix = 'contended'
    const stores = [1, 2, 3, 4].map(() =>
      limit({ store: postgresStore(client), prefix, limit: 30 }),
    )
    for (const keys of [1, 20]) {
      const asked = Array.from({ length: 60 }, async (_, i) => {
        // One after the other, so that each store has several transactions.
        for (let turn = 0; turn < i / 4; turn += 1) await new Promise(setImmediate)
        const all = Array.from({ length: keys }, (_, k) => stores[i % 4]?.consume(`${keys}-${k}`))
        return Promise.all(all)
      })
      const decisions = (await Promise.all(asked)).flat()
      expect(decisions.map((each) => each?.source)).toEqual(Array(60 * keys).fill('store'))
      expect(decisions.filter((each) => each?.allowed)).toHaveLength(30 * keys)
    }
  })

  describe('several processes', () => {
    const work = { client: 'postgres', times: 300, keys: ['client'], limit: 300 }
    const run = async (count: number, more: object) => {
      const asked = { ...work, url: server.url, ...more }
      const counts = await runInProcesses<{ client: number }>(worker, count, asked)
      return counts.reduce((sum, { client }) => sum + client, 0)
    }

    test('two that ask for 600 get exactly 300', async () => {
      expect(await run(2, { prefix: 'two' })).toBe(300)
    })

    test('what one has asked before it is killed is charged at most once', async () => {
      const more = { prefix: 'killed', limit: 900 }
      const killed = run(1, { ...more, killed: 0 }).catch(String)
      expect(await run(2, more)).toBe(600)
      expect(await killed).toContain('SIGKILL')
      const { remaining } = await limit({
        prefix: 'killed',
        limit: 900,
        algorithm: 'sliding-log',
      }).peek('client')
      expect(remaining).toBeLessThan(300)
      // It had asked 226 times.
      expect(remaining).toBeGreaterThanOrEqual(74)
    })
  })

  describe('nothing of it takes the application down', () => {
    const prompt = { deadline: 50, onStoreError: 'deny' }
    const works = (limiter: Limiter<'async'>) =>
      until(async () => (await limiter.peek('client')).source === 'store', {
        what: 'the store decides',
      })

    test('the only connection is held: each decision is in time, and what waits charges nothing', async () => {
      const own = connect({ max: 1 })
      const prefix = 'held'
      const store = postgresStore(own)
      const hasty = limit({ store, prefix, ...prompt })
      const calm = limit({ store, prefix })
      await calm.consume('client')
      await own.begin(async (sql) => {
        const keys = ['client', ...Array.from({ length: 20 }, (_, i) => `client-${i}`)]
        for (const key of keys) expect((await hasty.consume(key)).source).toBe('deny')
        expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
      })
      await works(calm)
      expect(await calm.peek('client')).toMatchObject({ remaining: 4 })
      for (let i = 0; i < 20; i += 1)
        expect(await calm.peek(`client-${i}`)).toMatchObject({ remaining: 5 })
    })

    test('connections that the server closes, idle or in the middle of calls', async () => {
      const application_name = 'closed'
      const own = connect({
        backoff: () => 0.01,
        connection: { application_name },
        // If a connection is closed while it fetches them, postgres.js ends the process, whoever asked.
        fetch_types: false,
      })
      const store = postgresStore(own)
      const limiter = limit({ store, prefix: 'closed', limit: 1000, ...prompt, deadline: 1000 })
      const close = () =>
        client`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${application_name}`
      await limiter.consume('client')
      await close()
      const isUsed = async () => (await limiter.consume('client', { cost: 0 })).source === 'store'
      await until(isUsed, { what: 'the store decides on a new connection' })

      let admitted = 1
      for (let round = 0; round < 3; round += 1) {
        const asked = Array.from({ length: 40 }, (_, i) =>
          limiter.consume(i % 2 ? 'client' : `client-${i}`),
        )
        const [decisions] = await Promise.all([Promise.all(asked), close()])
        admitted += decisions.filter(({ allowed }, i) => i % 2 === 1 && allowed).length
      }
      const { remaining } = await limit({ prefix: 'closed', limit: 1000 }).peek('client')
      expect(remaining).toBeLessThanOrEqual(1000 - admitted)
      // A call whose answer is lost may have charged.
      expect(remaining).toBeGreaterThanOrEqual(1000 - 61)
    })

    test('end() while calls are on their way', async () => {
      const own = connect()
      const limiter = limit({ store: postgresStore(own), onStoreError: 'deny', limit: 1000 })
      await limiter.consume('client')
      const asked = Array.from({ length: 100 }, (_, i) => limiter.consume(`client-${i}`))
      const ended = own.end()
      for (const { source } of await Promise.all(asked)) expect(['store', 'deny']).toContain(source)
      await ended
      expect(await limiter.consume('client')).toMatchObject({ source: 'deny' })
    })

    test('a frozen server gets a few statements, which charge nothing later', async () => {
      const frozen = await startPostgres()
      const own = postgres(frozen.url)
      const store = postgresStore(own)
      try {
        await store.migrate()
        const calm = limit({ store, prefix: 'frozen' })
        for (let i = 0; i < 2; i += 1) await calm.consume('client')
        frozen.pause()
        const sent = jest.spyOn(own, 'unsafe')
        for (let i = 0; i < 20; i += 1) {
          // Each has a breaker of its own.
          const hasty = limit({ store, prefix: 'frozen', ...prompt, deadline: 20 })
          expect((await hasty.consume(i === 0 ? 'client' : `${i}`)).source).toBe('deny')
        }
        expect(sent.mock.calls.length).toBeLessThanOrEqual(8)
        sent.mockRestore()
        frozen.resume()
        await works(calm)
        expect(await calm.peek('client')).toMatchObject({ remaining: 3 })
      } finally {
        frozen.resume()
        await own.end({ timeout: 1 })
        await frozen.stop()
      }
    })
  })
})
