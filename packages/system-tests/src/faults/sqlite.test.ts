// Faults of a file of SQLite, of its disk, and of the processes that share it.

import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, expect, jest, test } from '@jest/globals'
import { createLimiter } from '@sluice/core'
import { sqliteStore } from '@sluice/sqlite'
import { describeUnless, scratch } from '@sluice/test-harness/jest'
import { startBundle } from '@sluice/test-harness/processes'
import { patient, until } from '@sluice/test-harness/redis'
import { whyNoSqlite } from '@sluice/test-harness/sqlite'
import { conclude as concludeIn } from './figures.ts'
import { LIMIT, Load, type Report, undisturbed } from './load.ts'
import { warningCodes } from './warning-codes.ts'

const DOWN_AND_UP = ['SLUICE_STORE_DOWN', 'SLUICE_STORE_UP']

/** What the tests do to a file beside the store. */
interface Database {
  exec(sql: string): void
  prepare(sql: string): { run(...values: unknown[]): unknown }
  close(): void
}
const { DatabaseSync } = (process.getBuiltinModule('node:sqlite') ?? {}) as {
  DatabaseSync: new (path: string) => Database
}

function conclude(
  row: number,
  fault: string,
  report: Report,
  figures: { bound: number; normalMs: number | undefined },
): void {
  concludeIn(row, fault, report, figures, 'sqlite')
}

const { folder } = scratch()
const open: { close(): void }[] = []
const loads: Load[] = []
afterEach(async () => {
  for (const each of loads.splice(0)) await each.stop()
  for (const each of open.splice(0)) each.close()
})

let files = 0
function newPath(): string {
  files += 1
  return `${folder}/${files}.db`
}

function newStore(path: string, options: { maxBytes?: number } = {}) {
  const store = sqliteStore(path, options)
  open.push(store)
  return store
}

function startLoad(store: ReturnType<typeof sqliteStore>): Load {
  const started = new Load(store).start()
  loads.push(started)
  return started
}

function direct(path: string): Database {
  const database = new DatabaseSync(path)
  open.push(database)
  return database
}

function remove(path: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
}

// The tests open files with what Node has.
const none = DatabaseSync === undefined ? 'SQLite needs Node ≥ 22.5' : undefined
describeUnless(whyNoSqlite() ?? none, 'SQLite', () => {
  test('its folder is absent at start', async () => {
    const absent = startLoad(newStore(`${folder}/later/limits.db`))
    await absent.untilDecided(300)
    expect(warningCodes).toEqual(['SLUICE_STORE_DOWN'])
    mkdirSync(`${folder}/later`)
    const normalMs = await absent.untilDecidedBy('store')
    expect(warningCodes).toEqual(DOWN_AND_UP)
    await absent.untilNormal(300)
    conclude(1, 'its folder is absent at start', await absent.stop(), { bound: LIMIT, normalMs })
  })

  test('another process has the lock', async () => {
    const path = newPath()
    const running = startLoad(newStore(path))
    await running.untilNormal(200)
    const other = direct(path)
    const locked = () => {
      try {
        other.exec('BEGIN IMMEDIATE')
        return true
      } catch {
        return false
      }
    }
    await until(locked, { everyMs: 1, what: 'the other one has the lock' })
    await running.untilDecidedBy('local')
    await running.untilDecided(500)
    other.exec('COMMIT')
    const normalMs = await running.untilDecidedBy('store')
    expect(warningCodes).toEqual(DOWN_AND_UP)
    await running.untilNormal(300)
    conclude(2, 'another process keeps the lock', await running.stop(), { bound: LIMIT, normalMs })
  })

  test('a process that has the lock is killed', async () => {
    const path = newPath()
    const source = `
      import { DatabaseSync } from 'node:sqlite'
      const database = new DatabaseSync(${JSON.stringify(path)})
      database.exec("PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE; DELETE FROM sluice_states")
      process.send('locked')
      setInterval(() => {}, 1000)`
    const running = startLoad(newStore(path))
    await running.untilNormal(200)
    const child = startBundle(source, { flags: ['--no-warnings'] })
    await once(child, 'message')
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
    const normalMs = await running.untilDecidedBy('store')
    await running.untilNormal(300)
    const report = await running.stop()
    conclude(3, 'a process is killed while it has the lock', report, { bound: LIMIT, normalMs })
  })

  test('the file is full: clients without a row have no place', async () => {
    const path = newPath()
    const store = newStore(path, { maxBytes: 1_048_576 })
    const running = startLoad(store)
    await running.untilNormal(200)
    const newcomers = createLimiter({ ...patient, store, limit: 5, window: '1d', prefix: 'new' })
    const other = direct(path)
    other.exec(
      'PRAGMA busy_timeout = 10000; WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO sluice_states SELECT i, zeroblob(3900), 9e15 FROM n',
    )
    let count = 0
    const nextIsDecidedBy = async (source: string) => {
      count += 1
      return (await newcomers.consume(`client ${count}`)).source === source
    }
    await until(() => nextIsDecidedBy('local'), { everyMs: 0, what: 'the file is full' })
    await running.untilDecided(300)
    other.exec('DELETE FROM sluice_states WHERE length(state) = 3900')
    const began = performance.now()
    await until(() => nextIsDecidedBy('store'), { what: 'there is room again' })
    const normalMs = performance.now() - began
    await running.untilDecided(300)
    conclude(4, 'the file is full (SQLITE_FULL)', await running.stop(), { bound: LIMIT, normalMs })
  })

  test('the file is deleted while it is open', async () => {
    const path = newPath()
    const running = startLoad(newStore(path))
    await running.untilNormal(200)
    remove(path)
    const isThere = () => {
      try {
        return readFileSync(path).length > 0
      } catch {
        return false
      }
    }
    await until(isThere, { what: 'there is a new file' })
    await running.untilDecided(500)
    const report = await running.stop()
    conclude(5, 'the file is deleted', report, { bound: LIMIT, normalMs: undefined })
  })

  test('the file is replaced by one that is damaged', async () => {
    const path = newPath()
    const running = startLoad(newStore(path))
    await running.untilNormal(200)
    remove(path)
    writeFileSync(path, Buffer.alloc(20_000, 'damage'))
    await running.untilDecidedBy('local')
    await running.untilDecided(300)
    remove(path)
    const normalMs = await running.untilDecidedBy('store')
    expect(warningCodes).toEqual(DOWN_AND_UP)
    await running.untilNormal(300)
    const report = await running.stop()
    conclude(6, 'a damaged file takes its place', report, { bound: LIMIT, normalMs })
  })

  test.each([
    ['an hour ahead', 3_600_000],
    ['an hour back', -3_600_000],
  ])('the clock of the machine steps: %s', async (how, ms) => {
    const run = async () => {
      const running = startLoad(newStore(newPath()))
      await running.untilDecided(200)
      const { now } = Date
      const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + ms)
      await running.untilDecided(300)
      clock.mockRestore()
      await running.untilDecided(300)
      return running.stop()
    }
    const report = await undisturbed(run)
    conclude(7, `the machine's clock ${how}`, report, { bound: LIMIT, normalMs: undefined })
  })
})
