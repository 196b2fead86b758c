// npm run bench -- mysql: what a decision on MariaDB costs, or on MySQL if the environment names one, beside its peers.
// Prints tables, and writes no file.

import { startMysql } from '@sluice/test-harness/mysql'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { mysqlContenders } from '../contenders/mysql.ts'
import { report } from '../postgres/measure.ts'
import { bundleScripts } from '../processes/bundle.ts'

await bundleScripts()
const server = await startMysql()
try {
  const versions = { server: await versionOf(server.url) }
  await report(server, Object.keys(mysqlContenders), ['mysql2', 'rate-limiter-flexible'], versions)
} finally {
  await server.stop()
}

async function versionOf(url: string): Promise<string> {
  const connection = await createConnection(url)
  const [rows] = await connection.query<RowDataPacket[]>('SELECT VERSION() AS version')
  await connection.end()
  return rows[0]?.version
}
