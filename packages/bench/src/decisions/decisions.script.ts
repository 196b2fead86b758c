import { once } from 'node:events'
import { Cluster, Redis } from 'ioredis'
import { createPool } from 'mysql2'
import { Pool } from 'pg'
import { dynamodbClient, dynamodbContenders } from '../contenders/dynamodb.ts'
import { mysqlContenders } from '../contenders/mysql.ts'
import { postgresContenders } from '../contenders/postgres.ts'
import { redisContenders } from '../contenders/redis.ts'
import type { Decide } from '../contenders/terms.ts'
import { makeKeys, mix } from '../memory/keys.ts'
import { defineContender } from '../processes/task.ts'
import { quantile } from '../statistics/quartiles.ts'
import { inTurn, type Pattern, patterns } from './patterns.ts'
import { ownCpuMicros } from './usage.ts'

export interface DecisionsTask {
  readonly contender: string
  /** The address of a server, or of each master of a Redis Cluster. */
  readonly urls: readonly string[]
  readonly keys: number
  readonly pattern: Pattern
  /** The number of decisions in each measurement. */
  readonly decisions: number
  /** The decisions before the first one, until the engine has compiled what each of them runs. */
  readonly warmUp: number
}

/** The cost of one decision for the client's process. */
export interface ClientCost {
  readonly nodeMicros: number
  readonly p50Ms: number
  readonly p99Ms: number
}

defineContender(async ({ contender, urls, keys, pattern, decisions, warmUp }: DecisionsTask) => {
  const decide = await contenderOn(urls, contender)
  if (decide === undefined) throw new Error(`no contender ${contender}`)
  const next = inTurn(decide, mix(makeKeys(keys)))
  // Every key gets its state.
  await patterns['50 in a turn'](next, keys)
  // Requests of a turn may share a call: in any other pattern some contenders would make few.
  await patterns['one at a time'](next, warmUp)

  return async (): Promise<ClientCost> => {
    let latencies: number[] = []
    const micros = await ownCpuMicros(async () => {
      latencies = await patterns[pattern](next, decisions)
    })
    return {
      nodeMicros: micros / decisions,
      p50Ms: quantile(latencies, 0.5),
      p99Ms: quantile(latencies, 0.99),
    }
  }
})

async function contenderOn(urls: readonly string[], name: string): Promise<Decide | undefined> {
  const [url] = urls as [string]
  if (url.startsWith('http:')) return dynamodbContenders[name]?.(dynamodbClient(url))
  if (url.startsWith('mysql:')) return mysqlContenders[name]?.(createPool(url))
  if (url.startsWith('redis:')) {
    const client = urls.length > 1 ? new Cluster([...urls]) : new Redis(url)
    await once(client, 'ready')
    return redisContenders[name]?.(client)
  }
  // While others are measured it idles, and must not have to connect again.
  const settings = { connectionString: url, idleTimeoutMillis: 0 }
  return postgresContenders[name]?.(new Pool(settings), settings)
}
