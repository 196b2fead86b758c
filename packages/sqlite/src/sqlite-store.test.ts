import fs from 'node:fs'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import {
  createLimiter,
  type InspectableStore,
  type Ledger,
  type Limiter,
  type LimiterOptions,
} from '@sluice/core'
import { algorithms } from '@sluice/core/algorithms'
import { describeUnless, scratch } from '@sluice/test-harness/jest'
import { patient, until } from '@sluice/test-harness/redis'
import { sqliteDriver, whyNoSqlite } from '@sluice/test-harness/sqlite'
import { type Database, type Driver, ownDriver } from './driver.ts'
import { sqliteStore } from './index.ts'
import { sqliteFile } from './sqlite-file.ts'
import { sweepOf } from './sweep.ts'

const { folder, file } = scratch()

afterEach(() => {
  jest.restoreAllMocks()
})

test.each([
  ['nothing', undefined],
  ['an empty path', ''],
  ['memory', ':memory:'],
  ['a URL', 'file:limits.db'],
  ['a database', { prepare() {}, exec() {} }],
])('%s is no path', (_, path) => {
  expect(() => sqliteStore(path as never, { driver: class {} as never })).toThrow(
    expect.objectContaining({ code: 'SLUICE_STORE_UNKNOWN', option: 'path' }),
  )
})

test.each([
  ['SLUICE_OPTION_UNKNOWN', { table: 'limits' }],
  ['SLUICE_OPTION_TYPE', { durable: 'yes' }],
  ['SLUICE_OPTION_RANGE', { maxBytes: 1 }],
  ['SLUICE_OPTION_TYPE', { driver: 'better-sqlite3' }],
])('options are checked: %s', (code, options) => {
  expect(() => sqliteStore('limits.db', options as never)).toThrow(
    expect.objectContaining({ code }),
  )
})

test('without SQLite in Node, the error says what to do', () => {
  jest.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never)
  expect(() => sqliteStore('limits.db')).toThrow(
    expect.objectContaining({
      code: 'SLUICE_SQLITE_MISSING',
      message: expect.stringMatching(/better-sqlite3.* Node 22\.13 or later, received v\d/),
    }),
  )
})

describeUnless(whyNoSqlite(), 'SQLite', () => {
  const driver = sqliteDriver()
  const Database = () => (driver as Driver | undefined) ?? ownDriver()
  const open: { close(): void }[] = []
  afterEach(() => {
    for (const each of open.splice(0).reverse()) each.close()
  })

  let paths = 0
  function newPath(): string {
    paths += 1
    return `${folder}/${paths}.db`
  }

  type Options = Partial<LimiterOptions> & Parameters<typeof sqliteStore>[1] & { path?: string }

  function limit({ path = newPath(), durable, maxBytes, clock, ...options }: Options = {}) {
    const store = sqliteStore(path, { driver: options.driver ?? driver, durable, maxBytes, clock })
    delete options.driver
    const limiter = createLimiter({
      ...patient,
      store,
      limit: 5,
      window: '1d',
      ...options,
    } as LimiterOptions) as Limiter<'async'>
    open.push(store, limiter)
    return limiter
  }

  function direct(path: string): Database {
    const database = new (Database())(path)
    open.push(database)
    return database
  }

  /** The ledger of a store of its own, and charges of one unit. */
  function ledgerOf(options: Pick<Options, 'path' | 'clock' | 'driver'> = {}, deadlineMs?: number) {
    const { path = newPath(), ...given } = options
    const store = sqliteStore(path, { driver, ...given })
    const algorithm = algorithms['fixed-window']
    const limit = algorithm.compile({ limit: 5, windowMs: 86_400_000 })
    const keyspace = { name: 'fixed-window:86400000:p', algorithm }
    const ledger = store.open([keyspace], 'sluice', deadlineMs)
    const consume = async (key = 'client') => {
      const [result] = await (ledger as Ledger<'async'>).decide([[{ key, limit, cost: 1 }]])
      if (result instanceof Error) throw result
      return result
    }
    open.push(store)
    return { path, store, consume }
  }

  /** A driver whose files are counted while they are open. Its transactions fail as `of.failure` says. */
  function watched(of: { at?: string; failure?: object | undefined } = {}) {
    const files: Database[] = []
    const counts = { opened: 0 }
    class Watched extends (Database() as new (path: string) => Database) {
      constructor(path: string) {
        super(path)
        counts.opened += 1
        files.push(this)
      }
      override prepare(sql: string) {
        const statement = super.prepare(sql)
        if (!sql.startsWith(of.at ?? 'BEGIN')) return statement
        const run = () => {
          if (of.failure !== undefined) throw Object.assign(new Error('as SQLite says'), of.failure)
          return statement.run()
        }
        return { run, get: statement.get, all: statement.all }
      }
      override close() {
        files.splice(files.indexOf(this), 1)
        return super.close()
      }
    }
    return { driver: Watched as Driver, files, counts }
  }

  async function list(store: InspectableStore): Promise<unknown[]> {
    const listed = []
    for await (const { key, used, limit } of store.inspect()) listed.push([key, used, limit])
    return listed
  }

  const turn = () => new Promise((resolve) => setImmediate(resolve))

  const settle = (limiter: Limiter<'async'>) =>
    limiter
      .reset('client')
      .catch((error: Error) => error.cause as { code: string; message: string })

  test('counts survive a restart, and blocks', async () => {
    const path = newPath()
    const before = limit({ path })
    await before.consume('client', { cost: 3 })
    await before.block('somebody', '1h')
    for (const each of open.splice(0).reverse()) each.close()
    const after = limit({ path })
    expect(await after.consume('client')).toMatchObject({ remaining: 1, source: 'store' })
    expect(await after.peek('somebody')).toMatchObject({ allowed: false })
  })

  test('every key is listed, however many there are', async () => {
    const path = newPath()
    const limiter = limit({ path })
    const keys = Array.from({ length: 600 }, (_, i) => `user:${i}`)
    await Promise.all(keys.map((key) => limiter.consume(key)))
    // The rows of some clients are read in two steps.
    const others = keys.slice(1)
    await Promise.all(others.map((key) => limiter.override(key, { limit: 9 })))
    const listed = await list(sqliteStore(path, { driver }))
    const expected = [[keys[0], 1, 5], ...others.map((key) => [key, 1, 9])]
    expect(listed.sort()).toEqual(expected.sort())
  })

  test.each([true, false])(
    'durable: %s is whether a decision waits for the disk',
    async (durable) => {
      const { driver: counting, files } = watched()
      const limiter = limit({ durable, driver: counting })
      expect(await limiter.consume('client')).toMatchObject({ remaining: 4, source: 'store' })
      const [synchronous] = Object.values(files[0]?.prepare('PRAGMA synchronous').get() as object)
      expect(synchronous).toBe(durable ? 2 : 0)
    },
  )

  describe('while another connection has the lock', () => {
    test('requests wait, the event loop goes on, and they share the next transaction', async () => {
      const path = newPath()
      let now = 1_700_000_000_000
      const limiter = limit({ path, clock: () => now++ })
      await limiter.consume('client')
      const other = direct(path)
      other.exec('BEGIN IMMEDIATE')
      const waiting = Promise.all(Array.from({ length: 10 }, () => limiter.consume('client')))
      let isDecided = false
      void waiting.then(() => {
        isDecided = true
      })
      for (let turns = 0; turns < 100; turns += 1) await turn()
      expect(isDecided).toBe(false)
      other.exec('COMMIT')
      const decisions = await waiting
      expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(4)
      expect(new Set(decisions.map(({ source }) => source))).toEqual(new Set(['store']))
      expect(new Set(decisions.map(({ at }) => at)).size).toBe(1)
    })

    test.each([
      ['one long stall', 1, 150],
      ['many short stalls', 6, 30],
    ])('%s of the event loop: no reason to give up', async (_, count, ms) => {
      const path = newPath()
      const limiter = limit({ path, deadline: 100 })
      await limiter.peek('client')
      const other = direct(path)
      other.exec('BEGIN IMMEDIATE')
      const waiting = limiter.consume('client')
      for (let i = 0; i < count; i += 1) {
        await new Promise((resolve) => setImmediate(resolve))
        const until = performance.now() + ms
        while (performance.now() < until);
      }
      other.exec('COMMIT')
      expect(await waiting).toMatchObject({ source: 'store' })
    })

    test('what waits longer than the deadline is given up, and charges nothing', async () => {
      const path = newPath()
      const store = sqliteStore(path, { driver })
      open.push(store)
      const options = { store, limit: 5, window: '1d' } as const
      const prompt = createLimiter({ ...options, deadline: 50, onStoreError: 'deny' })
      const own = createLimiter({ ...options, ...patient })
      await own.peek('client')
      const other = direct(path)
      other.exec('BEGIN IMMEDIATE')
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
      const waiting = own.consume('patient')
      for (let i = 0; i < 3; i += 1) {
        const denied = prompt.consume('client')
        await jest.advanceTimersByTimeAsync(60)
        expect(await denied).toMatchObject({ allowed: false, source: 'deny' })
      }
      other.exec('COMMIT')
      // What waits is decided in its order.
      const last = own.consume('another')
      await jest.advanceTimersByTimeAsync(1000)
      expect(await last).toMatchObject({ source: 'store' })
      jest.useRealTimers()
      expect(await waiting).toMatchObject({ remaining: 4, source: 'store' })
      expect(await own.peek('client')).toMatchObject({ remaining: 5, source: 'store' })
    })

    test('a call is given up before its limiter decides alone', async () => {
      const { path, consume: create } = ledgerOf()
      await create()
      direct(path).exec('BEGIN IMMEDIATE')
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
      const { consume } = ledgerOf({ path }, 1000)
      const ends: unknown[] = []
      void consume().then(
        () => ends.push('decided'),
        (error: Error) => ends.push(error.message),
      )
      jest.advanceTimersByTime(850)
      await turn()
      expect(ends).toEqual([])
      jest.advanceTimersByTime(100)
      jest.useRealTimers()
      await turn()
      await turn()
      expect(ends).toEqual(['another process has the lock of the file'])
    })

    test.each([
      ['stops there if it takes long', 7, 1_000_000],
      ['has all that wait if it does not', 1, 0],
    ])('a transaction has at least 64 keys, and %s', async (_, count, ms) => {
      let now = 1_700_000_000_000
      const { path, consume } = ledgerOf({ clock: () => now++ })
      await consume()
      const other = direct(path)
      other.exec('BEGIN IMMEDIATE')
      const waiting = Array.from({ length: 200 }, (_, i) => consume(`client ${i}`))
      let time = performance.now()
      jest.spyOn(performance, 'now').mockImplementation(() => (time += ms))
      other.exec('COMMIT')
      const times = new Set((await Promise.all(waiting)).map((result) => result?.at))
      // Of each client, its state and its own record.
      expect(times.size).toBe(count)
    })

    test('the calls that wait are bounded', async () => {
      const { path, consume } = ledgerOf()
      await consume()
      const other = direct(path)
      other.exec('BEGIN IMMEDIATE')
      const waiting = Array.from({ length: 2000 }, (_, i) => consume(`client ${i}`))
      await expect(consume()).rejects.toThrow('too many calls')
      other.exec('COMMIT')
      await Promise.all(waiting)
    })
  })

  describe('a file', () => {
    const other = "CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('somebody')"
    test.each([
      ['SLUICE_SQLITE_FILE', 'in no folder', () => `${folder}/none/limits.db`],
      ['SLUICE_SQLITE_FILE', 'that is a folder', () => folder],
      ['SLUICE_SQLITE_FILE', 'in a file', () => `${file('plain', 'text')}/limits.db`],
      ['SLUICE_SQLITE_CORRUPT', 'that is none of SQLite', () => file('text.db', 'x'.repeat(9000))],
      [
        'SLUICE_SQLITE_VERSION',
        'of another application',
        () => {
          const path = newPath()
          direct(path).exec(other)
          return path
        },
      ],
      [
        'SLUICE_SQLITE_VERSION',
        'of another version',
        () => {
          const path = newPath()
          direct(path).exec('PRAGMA application_id = 0x736c7502')
          return path
        },
      ],
    ])('%s: %s, the error says what is wrong', async (code, _, path) => {
      const where = path()
      const { driver: counting, files } = watched()
      const limiter = limit({ path: where, driver: counting })
      expect(await limiter.consume('client')).toMatchObject({ allowed: true, source: 'local' })
      const expected = { code, message: expect.stringContaining(where) }
      expect(await settle(limiter)).toMatchObject(expected)
      const listed = list(sqliteStore(where, { driver: counting }))
      await expect(listed).rejects.toMatchObject(expected)
      expect(files).toEqual([])
    })

    test.each([
      ['SLUICE_SQLITE_FILE', { errcode: 266 }],
      ['SLUICE_SQLITE_FILE', { code: 'SQLITE_IOERR_READ' }],
      ['SLUICE_SQLITE_FILE', { errcode: 1032 }],
      ['SLUICE_SQLITE_CORRUPT', { errcode: 26 }],
      ['SLUICE_SQLITE_CORRUPT', { code: 'SQLITE_CORRUPT_INDEX' }],
      ['SLUICE_SQLITE_FULL', { errcode: 13 }],
      ['SLUICE_SQLITE_FULL', { errcode: 13 }, 'COMMIT'],
    ])('%s: whose use fails with %j is opened anew', async (code, failure, at = 'BEGIN') => {
      const of: Parameters<typeof watched>[0] = { at }
      const { driver: failing, files, counts } = watched(of)
      const { path, consume } = ledgerOf({ driver: failing })
      await consume()
      const { opened } = counts
      of.failure = failure
      await expect(consume()).rejects.toMatchObject({
        code,
        message: expect.stringContaining(`${path}: as SQLite says`),
      })
      of.failure = undefined
      expect(await consume()).toMatchObject({ outcomes: [{ remaining: 3 }] })
      expect(counts.opened).toBeGreaterThan(opened)
      expect(files).toHaveLength(1)
    })

    test.each([{ errcode: 5 }, { errcode: 517 }, { code: 'SQLITE_BUSY_RECOVERY' }])(
      'that is busy with %j is asked again',
      async (failure) => {
        const of: Parameters<typeof watched>[0] = {}
        const { driver: failing, counts } = watched(of)
        const { consume } = ledgerOf({ driver: failing })
        await consume()
        of.failure = failure
        const waiting = consume()
        await turn()
        of.failure = undefined
        expect(await waiting).toMatchObject({ outcomes: [{ remaining: 3 }] })
        expect(counts.opened).toBe(1)
      },
    )

    test('that processes cannot share is refused', async () => {
      if (process.platform !== 'linux') return
      // Without shared memory, as on the file systems of some networks.
      class Alone extends (Database() as new (path: string) => Database) {
        constructor(path: string) {
          super(`file:${path}?vfs=unix-dotfile`)
        }
      }
      const error = await settle(limit({ driver: Alone as Driver }))
      expect(error).toMatchObject({
        code: 'SLUICE_SQLITE_NETWORK',
        message: expect.stringContaining('the journal mode delete'),
      })
    })

    test('of another application is left as it is', async () => {
      const path = newPath()
      direct(path).exec(other)
      const before = fs.readFileSync(path)
      await limit({ path }).consume('client')
      expect(fs.readFileSync(path).equals(before)).toBe(true)
      expect(fs.existsSync(`${path}-wal`)).toBe(false)
    })

    test('on a network is refused', async () => {
      if (process.platform !== 'linux') return
      jest.spyOn(fs, 'statfsSync').mockReturnValue({ type: 0x6969 } as never)
      const error = await settle(limit())
      expect(error).toMatchObject({
        code: 'SLUICE_SQLITE_NETWORK',
        message: expect.stringContaining('0x6969'),
      })
    })

    test('that is read-only causes an error that says so', async () => {
      const path = newPath()
      await limit({ path }).consume('client')
      const ReadOnly = class extends (Database() as new (
        path: string,
        options: object,
      ) => Database) {
        constructor(given: string) {
          super(given, driver === undefined ? { readOnly: true } : { readonly: true })
        }
      }
      const limiter = limit({ path, driver: ReadOnly })
      expect(await limiter.consume('client')).toMatchObject({ source: 'local' })
      expect(await settle(limiter)).toMatchObject({ code: 'SLUICE_SQLITE_FILE' })
    })

    test('that is full decides as onStoreError says, and again when there is room', async () => {
      const path = newPath()
      const limiter = limit({ path, maxBytes: 1_048_576 })
      const database = direct(path)
      await limiter.consume('client')
      const fill = database.prepare('INSERT INTO sluice_states VALUES (?, zeroblob(3900), 0)')
      const pages = 1_048_576 / 4096
      for (let i = 0; i < pages; i += 1) fill.run(`filler ${i}`)
      const keys = Array.from({ length: 200 }, (_, i) => `client ${i}`)
      const sources = await Promise.all(
        keys.map(async (key) => (await limiter.consume(key)).source),
      )
      expect(sources).toContain('local')
      const blocked = keys.map((key) => limiter.block(key, '1h').catch(({ cause }) => cause))
      const full = expect.objectContaining({ code: 'SLUICE_SQLITE_FULL' })
      expect(await Promise.all(blocked)).toContainEqual(full)
      database.exec("DELETE FROM sluice_states WHERE key LIKE 'filler%'")
      const isUsed = async () => (await limiter.consume('client')).source === 'store'
      await until(isUsed, { what: 'the store decides again' })
    })

    test('that is damaged causes an error that says so, until there is a new one', async () => {
      const path = newPath()
      await limit({ path }).consume('client')
      for (const each of open.splice(0).reverse()) each.close()
      const content = fs.readFileSync(path)
      fs.writeFileSync(path, content.fill('damage', 4096))
      const limiter = limit({ path })
      expect(await limiter.consume('client')).toMatchObject({ allowed: true, source: 'local' })
      expect(await settle(limiter)).toMatchObject({ code: 'SLUICE_SQLITE_CORRUPT' })
      for (const end of ['', '-wal', '-shm']) fs.rmSync(path + end, { force: true })
      const isUp = async () => (await limiter.consume('client')).source === 'store'
      await until(isUp, { what: 'the store decides again' })
    })

    test.each(['deleted', 'replaced'])('that was %s is noticed', async (how) => {
      const path = newPath()
      const limiter = limit({ path, limit: 1_000_000 })
      await limiter.consume('client', { cost: 1000 })
      const fresh = newPath()
      await limit({ path: fresh, limit: 1_000_000 }).consume('client', { cost: 5000 })
      for (const each of open.splice(2).reverse()) each.close()
      for (const end of ['', '-wal', '-shm']) fs.rmSync(path + end, { force: true })
      if (how === 'replaced') fs.renameSync(fresh, path)
      const expected = how === 'replaced' ? 995_000 : 1_000_000
      const isSeen = async () => {
        const { remaining } = await limiter.consume('client')
        return remaining < expected && remaining > expected - 1000
      }
      await until(isSeen, { what: 'the store has the new file' })
    })
  })

  describe('the clock of the machine', () => {
    test.each([
      ['back', -3_600_000],
      ['forward', 3_600_000],
    ])(
      'steps %s by an hour: nobody is locked out, or gets more than another quota',
      async (_, step) => {
        let now = 1_700_000_000_000
        const limiter = limit({ clock: () => now, window: '1m' })
        const admitted = async () => {
          let count = 0
          for (let i = 0; i < 20; i += 1) if ((await limiter.consume('client')).allowed) count += 1
          return count
        }
        expect(await admitted()).toBe(5)
        now += step
        expect(await admitted()).toBeLessThanOrEqual(5)
        now += 120_000
        expect(await admitted()).toBe(5)
      },
    )
  })

  describe('expired rows', () => {
    const NOW = 1_700_000_000_000
    const bytesOf = (path: string) => fs.statSync(path).size

    async function filled(count: number): Promise<{ path: string; database: Database }> {
      const path = newPath()
      fileOf(path).statements()
      const database = direct(path)
      database.exec(
        `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
         INSERT INTO sluice_states SELECT 'sluice:{' || hex(i * 7919 % 1000003) || '}:p', zeroblob(24), ${NOW} FROM n`,
      )
      return { path, database }
    }
    const fileOf = (path: string) => {
      const opened = sqliteFile(path, Database(), { durable: false, maxBytes: 2 ** 30 })
      open.push(opened)
      return opened
    }
    const countOf = (database: Database) => {
      const sql = "SELECT count(*) AS count FROM sluice_states WHERE key <> ''"
      return (database.prepare(sql).get() as { count: number }).count
    }

    test('are deleted in steps, others stay, and the file shrinks', async () => {
      const { path, database } = await filled(20_000)
      database.exec("UPDATE sluice_states SET expires = expires + 1 WHERE key LIKE '%7}:p'")
      const stay = database.prepare('SELECT count(*) AS count FROM sluice_states WHERE expires > ?')
      const { count } = stay.get(NOW) as { count: number }
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      const before = bytesOf(path)
      const sweep = sweepOf(fileOf(path))
      let steps = 1
      while (sweep(1000, NOW)) steps += 1
      expect(steps).toBeGreaterThanOrEqual(20)
      expect(countOf(database)).toBe(count)
      database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      expect(bytesOf(path)).toBeLessThan(before / 2)
    })

    test('are left to the process that deletes them now, which another one follows if it dies', async () => {
      const { path, database } = await filled(5000)
      const [one, other] = [sweepOf(fileOf(path)), sweepOf(fileOf(path))]
      expect(one(1000, NOW)).toBe(true)
      expect(other(1000, NOW + 500)).toBe(false)
      expect(countOf(database)).toBe(4000)
      expect(other(1000, NOW + 1000)).toBe(true)
      expect(countOf(database)).toBe(3000)
      while (other(1000, NOW + 1000));
      // And then nobody for a while, unless the clock was set back.
      database.exec(`INSERT INTO sluice_states VALUES ('b', '', 0)`)
      expect([one(1000, NOW + 1500), countOf(database)]).toEqual([false, 1])
      expect([sweepOf(fileOf(path))(1000, NOW - 86_400_000), countOf(database)]).toEqual([false, 0])
    })

    test('are swept some time after a request, as long as there are any', async () => {
      jest.spyOn(Math, 'random').mockReturnValue(0.5)
      jest.useFakeTimers({
        doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'],
      })
      const { path, database } = await filled(2500)
      const limiter = limit({ path, clock: () => NOW })
      await limiter.consume('client')
      const left = () => countOf(database)
      const before = left()
      jest.advanceTimersByTime(60_000)
      jest.useRealTimers()
      await until(() => left() <= before - 2500, { what: 'the rows are deleted' })
      expect(await limiter.peek('client')).toMatchObject({ remaining: 4 })
    })

    test('are left alone by a store that is closed', async () => {
      const { path, database } = await filled(10)
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
      const { driver: counting, counts } = watched()
      const store = sqliteStore(path, { driver: counting, clock: () => NOW })
      const limiter = createLimiter({ ...patient, store, limit: 5, window: '1d' })
      await limiter.consume('client')
      const before = [counts.opened, countOf(database)]
      store.close()
      jest.advanceTimersByTime(120_000)
      jest.useRealTimers()
      expect([counts.opened, countOf(database)]).toEqual(before)
    })
  })
})
