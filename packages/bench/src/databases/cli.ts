// npm run bench -- postgres|mysql|dynamodb: what a decision on PostgreSQL costs, on MariaDB (or the MySQL that the
// environment names), or on dynalite, beside its peers. Prints tables, and writes no file.

import { startDynamodb } from '@sluice/test-harness/dynamodb'
import { startMysql } from '@sluice/test-harness/mysql'
import { startPostgres } from '@sluice/test-harness/postgres'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { Client } from 'pg'
import { dynamodbContenders } from '../contenders/dynamodb.ts'
import { mysqlContenders } from '../contenders/mysql.ts'
import { postgresContenders } from '../contenders/postgres.ts'
import type { ClientCost } from '../decisions/decisions.script.ts'
import { type FigureOf, measureDecisions } from '../decisions/measure.ts'
import { databaseMeter } from '../decisions/usage.ts'
import { install } from '../processes/install.ts'
import { beginReport } from '../report/print.ts'
import type { Measurement } from '../report/results.ts'

const DATABASES = {
  postgres: {
    start: startPostgres,
    contenders: Object.keys(postgresContenders),
    packages: ['pg', 'rate-limiter-flexible', '@acpr/rate-limit-postgresql'],
    async versionOf(connectionString: string): Promise<string> {
      const client = new Client({ connectionString })
      await client.connect()
      const { rows } = await client.query('SHOW server_version')
      await client.end()
      return `PostgreSQL ${rows[0].server_version}`
    },
  },
  mysql: {
    start: startMysql,
    contenders: Object.keys(mysqlContenders),
    packages: ['mysql2', 'rate-limiter-flexible'],
    async versionOf(url: string): Promise<string> {
      const connection = await createConnection(url)
      const [rows] = await connection.query<RowDataPacket[]>('SELECT VERSION() AS version')
      await connection.end()
      return rows[0]?.version
    },
  },
  dynamodb: {
    start: startDynamodb,
    contenders: Object.keys(dynamodbContenders),
    packages: ['@aws-sdk/client-dynamodb', 'rate-limiter-flexible'],
    versionOf: async () => 'dynalite',
  },
}

/** Decisions of each contender in each round. */
const DECISIONS = { 'one at a time': 150, '50 in a turn': 1000 } as const
const FIGURES: readonly FigureOf<ClientCost & { cpuMicros: number }>[] = [
  { title: "CPU of the server's processes", unit: 'µs', of: 'cpuMicros' },
  { title: "CPU of the client's process", unit: 'µs', of: 'nodeMicros' },
  { title: 'Median latency', unit: 'ms', of: 'p50Ms' },
  { title: '99th percentile of the latency', unit: 'ms', of: 'p99Ms' },
]

const { start, contenders, packages, versionOf } =
  DATABASES[process.argv[2] as keyof typeof DATABASES]
await install()
const server = await start()
try {
  const print = beginReport()
  const on = { urls: [server.url], meter: databaseMeter(server) }
  const measurements: Measurement[] = []
  for (const pattern of ['one at a time', '50 in a turn'] as const) {
    const work = {
      contenders,
      pattern,
      decisions: DECISIONS[pattern],
      rounds: { starts: 2, rounds: 5 },
      keys: 1000,
      warmUp: 1000,
      figures: FIGURES.map((each) => ({ ...each, title: `${each.title}, ${pattern}` })),
    }
    measurements.push(...(await measureDecisions(on, work, () => {})))
  }
  await print(measurements, packages, { server: await versionOf(server.url) })
} finally {
  await server.stop()
}
