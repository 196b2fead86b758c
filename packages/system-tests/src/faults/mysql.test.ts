// Faults of MySQL, of the network to it, and of the pool.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { mysqlStore } from '@sluice/mysql'
import { describeUnless } from '@sluice/test-harness/jest'
import { type MysqlServer, startMysql, whyNoMysql } from '@sluice/test-harness/mysql'
import { type RedisProxy, startProxy } from '@sluice/test-harness/redis'
import { createConnection, createPool, type Pool, type PoolConnection } from 'mysql2/promise'
import { conclude } from './figures.ts'
import { LIMIT, Load } from './load.ts'
import { warningCodes } from './warning-codes.ts'

const DOWN_AND_UP = ['SLUICE_STORE_DOWN', 'SLUICE_STORE_UP']
/** The default of mysql2. */
const CONNECTIONS = 10

describeUnless(whyNoMysql(), 'MySQL', () => {
  let server: MysqlServer
  let proxy: RedisProxy
  let pool: Pool
  let load: Load

  beforeAll(async () => {
    server = await startMysql()
    await direct("CREATE USER app@'%'")
    await direct("GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON test.* TO app@'%'")
  })
  afterAll(() => server.stop())

  /** A pool with the defaults of mysql2, through the proxy. */
  beforeEach(async () => {
    proxy = await startProxy(server)
    const url = server.url.replace('root', 'app').replace(`${server.port}`, `${proxy.port}`)
    pool = createPool(url)
    await mysqlStore(pool).migrate()
    load = new Load(mysqlStore(pool))
  })
  afterEach(async () => {
    await load.stop()
    await pool.end()
    await proxy.stop()
  })

  async function direct(sql: string): Promise<void> {
    const connection = await createConnection(server.url)
    await connection.query(sql)
    connection.destroy()
  }

  /** Waits until this process decides, lets it decide for a time, and ends the fault. */
  async function measure(row: number, fault: string, end: () => unknown): Promise<void> {
    await load.untilDecidedBy('local')
    await load.untilDecided(300)
    await end()
    const normalMs = await load.untilDecidedBy('store')
    expect([warningCodes.at(0), warningCodes.at(-1)]).toEqual(DOWN_AND_UP)
    await load.untilNormal(300)
    conclude(row, fault, await load.stop(), { bound: LIMIT, normalMs }, 'mysql')
  }

  test('it is absent at start', async () => {
    await server.kill()
    load.start()
    await measure(1, 'absent at start', () => server.restart())
  })

  test('it is killed under load', async () => {
    await load.start().untilNormal(200)
    await server.kill()
    await measure(2, 'killed under load, back with its data', () => server.restart())
  })

  test('it is frozen, its sockets stay open', async () => {
    await load.start().untilNormal(200)
    server.pause()
    await measure(3, 'frozen (SIGSTOP)', () => server.resume())
  })

  test('the network swallows everything', async () => {
    await load.start().untilNormal(200)
    proxy.blackhole()
    await measure(4, 'network swallows everything', () => {
      proxy.blackhole(false)
      proxy.cut()
    })
  })

  test('it is slow by 150 ms, too much', async () => {
    await load.start().untilNormal(200)
    proxy.latency(150)
    await measure(5, 'slow by 150 ms', () => proxy.latency(0))
  })

  test('the application holds all connections of the pool', async () => {
    await load.start().untilNormal(200)
    const held: PoolConnection[] = []
    while (held.length < CONNECTIONS) held.push(await pool.getConnection())
    await measure(6, 'the application holds the whole pool', () => {
      for (const each of held) each.release()
    })
  })

  test('another session locks the rows', async () => {
    await load.start().untilNormal(200)
    const session = await createConnection(server.url)
    await session.query('START TRANSACTION')
    await session.query('SELECT * FROM sluice_states FOR UPDATE')
    await measure(7, 'another session locks the rows', async () => {
      await session.query('COMMIT')
      session.destroy()
    })
  })

  test('it becomes a replica, which accepts no writes, and a primary again', async () => {
    await load.start().untilNormal(200)
    await direct('SET GLOBAL read_only = 1')
    await measure(8, 'the primary accepts only reads', () => direct('SET GLOBAL read_only = 0'))
  })

  test('its connections are cut, five times', async () => {
    await load.start().untilNormal(200)
    for (let i = 0; i < 5; i += 1) {
      proxy.cut()
      await load.untilDecided(50)
    }
    const normalMs = await load.untilDecidedBy('store')
    const figures = { bound: LIMIT, normalMs }
    conclude(9, 'its connections are cut, five times', await load.stop(), figures, 'mysql')
  })
})
