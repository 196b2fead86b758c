// npm run bench -- postgres: what a decision on PostgreSQL costs, beside its peers. Prints tables, and
// writes no file.

import { startPostgres } from '@sluice/test-harness/postgres'
import { Client } from 'pg'
import { postgresContenders } from '../contenders/postgres.ts'
import { bundleScripts } from '../processes/bundle.ts'
import { report } from './measure.ts'

await bundleScripts()
const server = await startPostgres()
try {
  const packages = ['pg', 'rate-limiter-flexible', '@acpr/rate-limit-postgresql']
  const versions = { PostgreSQL: await versionOf(server.url) }
  await report(server, Object.keys(postgresContenders), packages, versions)
} finally {
  await server.stop()
}

async function versionOf(connectionString: string): Promise<string> {
  const client = new Client({ connectionString })
  await client.connect()
  const { rows } = await client.query('SHOW server_version')
  await client.end()
  return rows[0].server_version
}
