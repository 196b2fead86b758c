import { existsSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client } from 'pg'
import { describeUnless } from '../jest/index.ts'
import { whyNoPgBouncer, whyNoPostgres } from './binary.ts'
import { type PostgresServer, startPostgres } from './server.ts'

test('without a server there is one line that says how to get it', () => {
  const reason = whyNoPostgres({ POSTGRES_SERVER: '/nonexistent/postgres' })
  expect(reason).toMatch(/^POSTGRES_SERVER is \/nonexistent\/postgres, .*$/)
  expect(whyNoPgBouncer({ POSTGRES_SERVER: '/nonexistent/postgres' })).toBe(reason)
})

test('nor without PgBouncer', () => {
  const env = { POSTGRES_SERVER: process.execPath, PGBOUNCER: '/nonexistent/pgbouncer' }
  expect(whyNoPgBouncer(env)).toMatch(/^PGBOUNCER is \/nonexistent\/pgbouncer, .*$/)
})

describeUnless(whyNoPostgres(), 'a server', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.stop())

  async function query(text: string): Promise<unknown> {
    const client = new Client({ connectionString: server.url })
    await client.connect()
    try {
      return (await client.query(text)).rows[0]
    } finally {
      await client.end()
    }
  }

  test('keeps its data when it is killed, except that of UNLOGGED tables', async () => {
    await query('CREATE TABLE logged AS SELECT 1 AS n')
    await query('CREATE UNLOGGED TABLE lost AS SELECT 1 AS n')
    await server.kill()
    await expect(query('SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await server.restart()
    expect(await query('SELECT n FROM logged')).toEqual({ n: 1 })
    expect(await query('SELECT n FROM lost')).toBeUndefined()
  })

  test('that can not start leaves nothing', async () => {
    const url = 'postgres://postgres@127.0.0.1:1/postgres'
    const { cmd } = await startPostgres({ ...server, url }).catch((error) => error)
    const [, folder] = / -D (\S+)\/data /.exec(cmd) ?? []
    expect(folder).toContain('sluice-postgres-')
    expect(existsSync(folder as string)).toBe(false)
  })

  test('leaves nothing', async () => {
    const other = await startPostgres()
    const client = new Client({ connectionString: other.url })
    await client.connect()
    const { rows } = await client.query('SHOW data_directory')
    await client.end()
    expect(existsSync(rows[0].data_directory)).toBe(true)
    await other.stop()
    expect(existsSync(rows[0].data_directory)).toBe(false)
  })
})
