// The commands on MySQL: every way to a pool, and that each of them works there.

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/core'
import { mysqlStore } from '@sluice/mysql'
import { describeUnless, scratch } from '@sluice/test-harness/jest'
import { type MysqlServer, startMysql, whyNoMysql } from '@sluice/test-harness/mysql'
import { freePorts, patient, until } from '@sluice/test-harness/redis'
import { createPool, type RowDataPacket } from 'mysql2/promise'
import { ended, startCli } from '../testing/run-cli.ts'
import { type ConnectFlags, connect } from './connect.ts'

const { file } = scratch()
const CLIENT = 'client-of-mysql'

describeUnless(whyNoMysql(), 'MySQL', () => {
  let server: MysqlServer
  beforeAll(async () => {
    server = await startMysql()
    const pool = createPool(server.url)
    const store = mysqlStore(pool)
    await store.migrate()
    const name = 'api'
    const limiter = createLimiter({ ...patient, store, limit: 5, window: '1d', name, live: true })
    await limiter.consume(CLIENT, { cost: 5 })
    const find = "SELECT id FROM sluice_states WHERE id LIKE '%keyspaces' AND state IS NOT NULL"
    const isNoted = async () => (await pool.query<RowDataPacket[]>(find))[0].length > 0
    await until(isNoted, { what: 'the policy is noted' })
    limiter.close()
    store.close()
    await pool.end()
  })
  afterAll(() => server.stop())

  async function keysAt(flags: ConnectFlags, env = {}): Promise<string[]> {
    const connection = await connect(flags, env)
    const keys = []
    for await (const { key } of connection.store.inspect()) keys.push(key)
    expect(await connection.health()).toMatchObject([
      { version: expect.stringMatching(/MySQL|MariaDB/), role: 'primary' },
    ])
    expect((await connection.health())[0]?.connectedClients).toBeGreaterThan(0)
    connection.close()
    return keys
  }

  test('is found by a flag and by the variable', async () => {
    const url = server.url.replace('mysql:', 'mariadb:')
    expect(await keysAt({ mysql: url }, { REDIS_URL: 'redis://127.0.0.1:1' })).toEqual([CLIENT])
    expect(await keysAt({}, { DATABASE_URL: server.url })).toEqual([CLIENT])
    await expect(connect({ mysql: server.url, schema: 'limits' })).rejects.toThrow(/^--schema/)
  })

  test("is reached by the user's own pool, of promises alone", async () => {
    const pool = (from: string) => {
      const given = [require.resolve(from), server.url].map((each) => JSON.stringify(each))
      return `module.exports = require(${given[0]}).createPool(${given[1]})`
    }
    const client = file('pool.cjs', pool('mysql2/promise'))
    expect(await keysAt({ client })).toEqual([CLIENT])
    const callbacks = file('callbacks.cjs', pool('mysql2'))
    await expect(connect({ client: callbacks })).rejects.toMatchObject({ option: 'pool' })
  })

  test('that does not answer, or is not set up, is refused with a reason', async () => {
    const [port] = await freePorts(1)
    const nowhere = `mysql://user:secret@127.0.0.1:${port}/test`
    await expect(connect({ mysql: nowhere })).rejects.toThrow(/^MySQL: (?!.*secret).*REFUSED/)
    const unknown = server.url.replace('root@', 'nobody-such:secret@')
    await expect(connect({ mysql: unknown })).rejects.toThrow(/^MySQL: (?!.*secret).*nobody/)
    const connection = await connect({ mysql: server.url.replace('/test', '/mysql') })
    const reading = async () => {
      for await (const _ of connection.store.inspect());
    }
    await expect(reading()).rejects.toMatchObject({ code: 'SLUICE_MYSQL_TABLE' })
    connection.close()
  })

  async function sluice(...args: readonly string[]) {
    const { code, stdout, stderr } = await ended(
      await startCli([...args, '--json'], { DATABASE_URL: server.url, REDIS_URL: '' }),
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return JSON.parse(stdout)
  }

  test('shows and changes limits and clients', async () => {
    const before = { name: 'api', limit: 5, codeLimit: 5 }
    const set = ['policy', 'set', 'api', '--limit', '7', '--yes', '--by', 'ada']
    expect(await sluice(...set)).toMatchObject({ number: 1, by: 'ada' })
    expect(await sluice('policy', 'list')).toMatchObject([{ ...before, limit: 7 }])
    await sluice('policy', 'rollback', '--yes')
    expect(await sluice('policy', 'list')).toMatchObject([before])
    expect(await sluice('top', '--once')).toMatchObject({ exhausted: 1, top: [{ key: CLIENT }] })
    await sluice('block', 'somebody', '1h', '--yes')
    const blocked = { entries: [{ standing: 'blocked' }] }
    expect(await sluice('inspect', 'somebody')).toMatchObject(blocked)
    await sluice('reset', CLIENT, '--yes')
    expect(await sluice('inspect', CLIENT)).toHaveProperty('entries', [])
  })
})
