import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type DynamodbServer, startDynamodb } from '@sluice/test-harness/dynamodb'
import { type MysqlServer, startMysql, whyNoMysql } from '@sluice/test-harness/mysql'
import { type PostgresServer, startPostgres, whyNoPostgres } from '@sluice/test-harness/postgres'
import { type RedisServer, startRedis } from '@sluice/test-harness/redis'
import { hasSqlite, programFolder, withPrograms, writePrograms } from './programs.ts'

const { folder, tsconfig } = programFolder()
const noPostgres = whyNoPostgres()
const noMysql = whyNoMysql()
/** Where there is no PostgreSQL, MySQL or SQLite, the blocks that need it are only compiled. */
const runnable = withPrograms.filter(
  (each) =>
    !(noPostgres && each.includes('postgres')) &&
    !(noMysql && each.includes('mysql')) &&
    !(!hasSqlite && each.includes('sqlite')),
)
const programs = new Map(runnable.map((each) => [each, writePrograms(folder, each)]))

let redis: RedisServer
let postgres: PostgresServer | undefined
let mysql: MysqlServer | undefined
let dynamodb: DynamodbServer
/** What went wrong, by program. */
let failures: Record<string, string>

beforeAll(async () => {
  redis = await startRedis()
  dynamodb = await startDynamodb()
  if (noPostgres === undefined) postgres = await startPostgres()
  if (noMysql === undefined) mysql = await startMysql()
  failures = await runAll([...programs.values()].flat())
})

afterAll(async () => {
  await redis.stop()
  await dynamodb.stop()
  await postgres?.stop()
  await mysql?.stop()
})

/** Runs programs in one process, since starting one costs more than they do. */
async function runAll(files: readonly string[]): Promise<Record<string, string>> {
  const script = join(__dirname, 'run-blocks.ts')
  const args = ['--import', 'tsx', script, ...files]
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: {
      ...process.env,
      REDIS_URL: redis.url,
      DATABASE_URL: postgres?.url,
      MYSQL_URL: mysql?.url,
      AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      LIMITS: join(folder, 'limits.db'),
      TSX_TSCONFIG_PATH: tsconfig,
    },
  })
  const [report] = stdout.match(/\{.*\}$/) ?? ['no report']
  return JSON.parse(report)
}

test.each(runnable)('the blocks of %s run, and give what they say', (document) => {
  const own = programs.get(document) ?? []
  expect(own.length).toBeGreaterThan(0)
  expect(own.flatMap((program) => failures[program] ?? [])).toEqual([])
})
