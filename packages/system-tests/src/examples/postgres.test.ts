import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { isOpenToOthers, type Program, startExample } from '@sluice/test-harness/examples'
import { describeUnless } from '@sluice/test-harness/jest'
import { type PostgresServer, startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { until } from '@sluice/test-harness/redis'
import request from 'supertest'
import { folderOf } from './folder-of.ts'

const folder = folderOf('postgres')

describeUnless(whyNoPostgres(), 'with PostgreSQL', () => {
  let postgres: PostgresServer
  let examples: Program[] = []
  beforeAll(async () => {
    postgres = await startPostgres()
    const start = () => startExample(folder, { DATABASE_URL: postgres.url })
    examples = await Promise.all([start(), start()])
  })
  afterAll(async () => {
    await Promise.all(examples.map((example) => example.stop()))
    await postgres.stop()
  })

  const logIn = async (example: Program) => (await request(example.url).post('/login')).status
  const sourceOf = async (example: Program) => (await request(example.url).get('/')).body.source

  test('without the table each process decides, and says how to create it', async () => {
    const [example] = examples as [Program]
    expect(await sourceOf(example)).toBe('local')
    // A first request that is too late gives another reason, and a later one finds this.
    const warned = async () => {
      await sourceOf(example)
      return example.output().includes('CREATE UNLOGGED TABLE')
    }
    await until(warned, { everyMs: 50, what: 'the warning has the statement' })
  })

  test('after its migration, two processes have one limit', async () => {
    const command = ['--import', 'tsx', join(folder, 'migrate.ts')]
    const env = { ...process.env, DATABASE_URL: postgres.url }
    await promisify(execFile)(process.execPath, command, { cwd: folder, env })
    for (const example of examples) {
      const isBack = async () => (await sourceOf(example)) === 'store'
      await until(isBack, { everyMs: 50, what: 'PostgreSQL decides' })
    }
    const [one, other] = examples as [Program, Program]
    const statuses = [await logIn(one), await logIn(other), await logIn(one), await logIn(other)]
    expect(statuses).toEqual([200, 200, 200, 200])
    expect([await logIn(one), await logIn(other)]).toEqual([200, 429])
    const { status, headers } = await request(other.url).get('/health')
    expect([status, headers['ratelimit-policy']]).toEqual([200, undefined])
  })

  test('it listens on loopback', async () => {
    expect(await isOpenToOthers((examples[0] as Program).url)).toBe(false)
  })
})
