import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { redisStore, type Store } from '@sluice/core'
import { dynamodbStore } from '@sluice/dynamodb'
import { mysqlStore } from '@sluice/mysql'
import { postgresStore } from '@sluice/postgres'
import { sqliteStore } from '@sluice/sqlite'
import { sqliteDriver } from '@sluice/test-harness/sqlite'
import { Cluster, Redis } from 'ioredis'
import { createPool } from 'mysql2/promise'
import pg from 'pg'

/** Where a store is. */
export type Address =
  | { readonly redis: { readonly host: string; readonly port: number } }
  | { readonly cluster: readonly { readonly host: string; readonly port: number }[] }
  | { readonly postgres: string }
  | { readonly mysql: string }
  | { readonly dynamodb: string }
  | { readonly sqlite: string }

/** The settings that docs/operations.md recommends: nothing is sent twice. */
const ONCE = {
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  disconnectTimeout: 0,
  retryStrategy: () => 20,
}

/**
 * Opens a store as an application does.
 *
 * @param name what the connections are called
 */
export function openStore(address: Address, name: string): Store<'async'> {
  const once = { ...ONCE, connectionName: name }
  if ('redis' in address) return redisStore(quiet(new Redis({ ...address.redis, ...once })))
  if ('cluster' in address) {
    const options = {
      redisOptions: once,
      enableOfflineQueue: false,
      retryDelayOnFailover: 0,
      slotsRefreshInterval: 200,
    }
    return redisStore(quiet(new Cluster([...address.cluster], options)))
  }
  if ('sqlite' in address) return sqliteStore(address.sqlite, { driver: sqliteDriver() })
  if ('dynamodb' in address) {
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
    const region = 'us-east-1'
    return dynamodbStore(new DynamoDBClient({ endpoint: address.dynamodb, region, credentials }))
  }
  if ('mysql' in address) {
    const connectAttributes = { program_name: name }
    return mysqlStore(createPool({ uri: address.mysql, connectAttributes }))
  }
  return postgresStore(
    quiet(new pg.Pool({ connectionString: address.postgres, application_name: name })),
    {
      logged: true,
    },
  )
}

function quiet<T extends { on(event: 'error', listener: () => void): unknown }>(client: T): T {
  client.on('error', () => {})
  return client
}
