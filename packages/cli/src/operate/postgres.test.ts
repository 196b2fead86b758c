// The commands on PostgreSQL: every way to a pool, and that each of them works there.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/core'
import { postgresStore } from '@sluice/postgres'
import { describeUnless, scratch } from '@sluice/test-harness/jest'
import { type PostgresServer, startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { freePorts, patient } from '@sluice/test-harness/redis'
import { Pool } from 'pg'
import { ended, startCli } from '../testing/run-cli.ts'
import { type ConnectFlags, connect } from './connect.ts'

const { file } = scratch()

describeUnless(whyNoPostgres(), 'PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
    const pool = new Pool({ connectionString: server.url })
    await pool.query('CREATE SCHEMA limits')
    for (const schema of ['public', 'limits']) {
      const store = postgresStore(pool, { schema })
      await store.migrate()
      const limiter = createLimiter({
        ...patient,
        store,
        limit: 5,
        window: '1d',
        name: 'api',
        live: true,
      })
      await limiter.consume(`client-of-${schema}`, { cost: 5 })
      limiter.close()
      store.close()
    }
    await pool.end()
  })
  afterAll(() => server.stop())

  async function keysAt(flags: ConnectFlags, env = {}): Promise<string[]> {
    const connection = await connect(flags, env)
    const keys = []
    for await (const { key } of connection.store.inspect()) keys.push(key)
    expect(await connection.health()).toMatchObject([
      { version: expect.stringMatching(/^PostgreSQL \d/), role: 'primary' },
    ])
    connection.close()
    return keys
  }

  test('is found by a flag, by the variable, and in a schema', async () => {
    const url = server.url.replace(/^\w+/, 'postgresql')
    const other = { REDIS_URL: 'redis://127.0.0.1:1' }
    expect(await keysAt({ postgres: url }, other)).toEqual(['client-of-public'])
    expect(await keysAt({}, { DATABASE_URL: url })).toEqual(['client-of-public'])
    expect(await keysAt({ postgres: url, schema: 'limits' })).toEqual(['client-of-limits'])
  })

  test("is reached by the user's own pool", async () => {
    const pg = JSON.stringify(require.resolve('pg'))
    const given = JSON.stringify({ connectionString: server.url })
    const client = file(
      'pool.cjs',
      `const { Pool } = require(${pg})\nmodule.exports = new Pool(${given})`,
    )
    // The variable is for others: the file has its own address.
    expect(await keysAt({ client, schema: 'limits' }, { REDIS_URL: 'redis://a' })).toEqual([
      'client-of-limits',
    ])
  })

  test('that does not answer, or is not set up, is refused with a reason', async () => {
    const [port] = await freePorts(1)
    const nowhere = `postgres://user:secret@127.0.0.1:${port}/postgres`
    await expect(connect({ postgres: nowhere })).rejects.toThrow(
      /^PostgreSQL: (?!.*secret).*REFUSED/,
    )
    const unknown = server.url.replace('postgres@', 'nobody-such:secret@')
    await expect(connect({ postgres: unknown })).rejects.toThrow(
      /^PostgreSQL: (?!.*secret).*nobody/,
    )
    const connection = await connect({ postgres: server.url, schema: 'none' })
    const reading = async () => {
      for await (const _ of connection.store.inspect());
    }
    await expect(reading()).rejects.toMatchObject({ code: 'SLUICE_POSTGRES_TABLE' })
    connection.close()
  })

  async function sluice(...args: readonly string[]) {
    const { code, stdout, stderr } = await ended(
      await startCli([...args, '--json'], { DATABASE_URL: server.url, REDIS_URL: '' }),
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
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
    const key = 'client-of-public'
    expect(await sluice('top', '--once')).toMatchObject({ keys: 1, exhausted: 1, top: [{ key }] })
    await sluice('block', 'somebody', '1h', '--yes')
    expect(await sluice('inspect', 'somebody')).toMatchObject({
      entries: [{ standing: 'blocked' }],
    })
    await sluice('unblock', 'somebody', '--yes')
    await sluice('reset', key, '--yes')
    for (const gone of ['somebody', key])
      expect(await sluice('inspect', gone)).toHaveProperty('entries', [])
  })
})
