import { createPool } from 'mysql2'
import { Pool } from 'pg'
import { dynamodbClient, dynamodbContenders } from '../contenders/dynamodb.ts'
import { mysqlContenders } from '../contenders/mysql.ts'
import { postgresContenders } from '../contenders/postgres.ts'
import type { Decide } from '../contenders/terms.ts'
import { makeKeys, mix } from '../memory/keys.ts'
import { defineContender } from '../processes/task.ts'
import { inTurn, type Pattern, patterns } from '../redis/patterns.ts'
import { quantile } from '../statistics/quartiles.ts'

/** The decisions before the first measurement. */
const WARM_UP = 1000

export interface CountingTask {
  readonly contender: string
  readonly url: string
  readonly keys: number
  readonly pattern: Pattern
  /** The number of decisions in each measurement. */
  readonly decisions: number
}

/** The cost of one decision for the client's process. */
export interface ClientCost {
  readonly nodeMicros: number
  readonly p50Ms: number
  readonly p99Ms: number
}

defineContender(async ({ contender, url, keys, pattern, decisions }: CountingTask) => {
  const decide = await contenderOn(url, contender)
  if (decide === undefined) throw new Error(`no contender ${contender}`)
  const next = inTurn(decide, mix(makeKeys(keys)))
  const run = patterns[pattern]
  // Every key gets its row, and the engine compiles what runs often.
  await patterns['50 in a turn'](next, keys)
  await run(next, WARM_UP)

  return async (): Promise<ClientCost> => {
    const cpu = process.cpuUsage()
    const latencies = await run(next, decisions)
    const { user, system } = process.cpuUsage(cpu)
    return {
      nodeMicros: (user + system) / decisions,
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
    }
  }
})

async function contenderOn(url: string, contender: string): Promise<Decide | undefined> {
  if (url.startsWith('http:')) return dynamodbContenders[contender]?.(dynamodbClient(url))
  if (url.startsWith('mysql:')) return mysqlContenders[contender]?.(createPool(url))
  // While others are measured it idles, and must not have to connect again.
  const settings = { connectionString: url, idleTimeoutMillis: 0 }
  return postgresContenders[contender]?.(new Pool(settings), settings)
}
