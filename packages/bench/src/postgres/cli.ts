// npm run bench -- postgres: what a decision on PostgreSQL costs, beside its peers. Prints tables, and
// writes no file.

import { startPostgres } from '@sluice/test-harness/postgres'
import { Client } from 'pg'
import { postgresContenders } from '../contenders/postgres.ts'
import { OURS } from '../contenders/sluice.ts'
import { machine, packageVersion } from '../environment.ts'
import { bundleScripts } from '../processes/bundle.ts'
import type { Pattern } from '../redis/patterns.ts'
import { measurementOf } from '../report/measurement.ts'
import type { Measurement, Unit } from '../report/results.ts'
import { facts, measurementTable } from '../report/tables.ts'
import { type Cost, measureCosts } from './measure.ts'

const ROUNDS = { starts: 2, rounds: 5 }
/** Decisions of each contender in each round. */
const DECISIONS = { 'one at a time': 150, '50 in a turn': 1000 } as const

const FIGURES: readonly { title: string; unit: Unit; of: keyof Cost }[] = [
  { title: "CPU of the server's processes", unit: 'µs', of: 'serverMicros' },
  { title: "CPU of the client's process", unit: 'µs', of: 'nodeMicros' },
  { title: 'Median latency', unit: 'ms', of: 'p50Ms' },
  { title: '99th percentile of the latency', unit: 'ms', of: 'p99Ms' },
]

const begun = performance.now()
const before = machine()
await bundleScripts()
const server = await startPostgres()
const measurements: Measurement[] = []
let version: string
try {
  version = await versionOf(server.url)
  for (const pattern of ['one at a time', '50 in a turn'] satisfies Pattern[]) {
    const of = { pattern, decisions: DECISIONS[pattern], rounds: ROUNDS }
    const costs = await measureCosts(server, Object.keys(postgresContenders), of)
    for (const { title, unit, of: figure } of FIGURES) {
      const about = { title: `${title}, ${pattern}`, unit, reference: OURS }
      measurements.push(measurementOf(costs, about, (cost) => cost[figure]))
    }
  }
} finally {
  await server.stop()
}
const packages = ['pg', 'rate-limiter-flexible', '@acpr/rate-limit-postgresql']
const versions = Object.fromEntries(packages.map((name) => [name, packageVersion(name)]))
const took = `${Math.round((performance.now() - begun) / 1000)} s`
console.log(
  [
    facts({ ...before, 'load after': machine()['load before'] as string, took }),
    facts({ Node: process.versions.node, PostgreSQL: version, ...versions }),
    ...measurements.map(measurementTable),
  ].join('\n\n'),
)

async function versionOf(connectionString: string): Promise<string> {
  const client = new Client({ connectionString })
  await client.connect()
  const { rows } = await client.query('SHOW server_version')
  await client.end()
  return rows[0].server_version
}
