// The commands on a file of SQLite.

import { existsSync } from 'node:fs'
import { beforeAll, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/core'
import { sqliteStore } from '@sluice/sqlite'
import { describeUnless, scratch } from '@sluice/test-harness/jest'
import { patient } from '@sluice/test-harness/redis'
import { whyNoSqlite } from '@sluice/test-harness/sqlite'
import { ended, startCli } from '../testing/run-cli.ts'
import { connect } from './connect.ts'

const { folder } = scratch()
const path = `${folder}/limits.db`

test('a file that is not there is never made', async () => {
  const sqlite = `${folder}/none.db`
  await expect(connect({ sqlite })).rejects.toThrow(/^--sqlite: there is no file .*none\.db$/)
  expect(existsSync(sqlite)).toBe(false)
})

// The command has Node's own driver.
const own =
  process.getBuiltinModule('node:sqlite') === undefined ? 'SQLite needs Node ≥ 22.5' : undefined

describeUnless(whyNoSqlite() ?? own, 'SQLite', () => {
  beforeAll(async () => {
    const store = sqliteStore(path)
    const limiter = createLimiter({
      ...patient,
      store,
      limit: 5,
      window: '1d',
      name: 'api',
      live: true,
    })
    await limiter.consume('client', { cost: 5 })
    limiter.close()
    store.close()
  })

  async function sluice(...args: readonly string[]) {
    const other = { DATABASE_URL: 'postgres://nowhere', REDIS_URL: '' }
    const flags = ['--sqlite', path, '--json']
    const { code, stdout } = await ended(await startCli([...args, ...flags], other))
    expect(code).toBe(0)
    return JSON.parse(stdout)
  }

  test('shows and changes live policies', async () => {
    const before = { name: 'api', limit: 5, codeLimit: 5 }
    expect(await sluice('policy', 'list')).toMatchObject([before])
    const set = ['policy', 'set', 'api', '--limit', '7', '--enforce', '10%', '--yes']
    expect(await sluice(...set, '--by', 'ada')).toMatchObject({ number: 1, by: 'ada' })
    const after = { ...before, limit: 7, enforced: 0.1, changed: { number: 1 } }
    expect(await sluice('policy', 'list')).toMatchObject([after])
    await sluice('policy', 'rollback', '--yes')
    expect(await sluice('policy', 'list')).toMatchObject([before])
    expect(await sluice('policy', 'history')).toMatchObject([{ number: 2 }, { number: 1 }])
    const preview = ['policy', 'set', 'api', '--limit', '3', '--preview']
    expect(await sluice(...preview)).toMatchObject({ clients: 1, over: 1, refused: 1 })
  })

  test('shows and changes clients by each command', async () => {
    const top = [{ key: 'client', limit: 5 }]
    expect(await sluice('top', '--once')).toMatchObject({ keys: 1, exhausted: 1, top })
    await sluice('block', 'somebody', '1h', '--yes')
    expect(await sluice('inspect', 'somebody')).toMatchObject({
      entries: [{ standing: 'blocked' }],
    })
    await sluice('unblock', 'somebody', '--yes')
    await sluice('reset', 'client', '--yes')
    for (const gone of ['somebody', 'client'])
      expect(await sluice('inspect', gone)).toHaveProperty('entries', [])
  })
})
