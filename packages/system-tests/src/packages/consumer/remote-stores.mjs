// Prints who decides a request while there is no server of PostgreSQL, MySQL and DynamoDB.

import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createLimiter } from '@sluice/core'
import { dynamodbStore } from '@sluice/dynamodb'
import { mysqlStore } from '@sluice/mysql'
import { postgresStore } from '@sluice/postgres'
import { createPool } from 'mysql2/promise'
import pg from 'pg'

const address = { host: '127.0.0.1', port: 1 }
const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
const dynamodb = { endpoint: 'http://127.0.0.1:1', region: 'us-east-1', credentials }
const stores = [
  postgresStore(new pg.Pool(address)),
  mysqlStore(createPool(address)),
  dynamodbStore(new DynamoDBClient(dynamodb)),
]
const asked = stores.map((store) =>
  createLimiter({ store, limit: 2, window: '1d' }).consume('client'),
)
Promise.all(asked).then((decisions) => {
  console.log(JSON.stringify({ sources: decisions.map(({ source }) => source) }))
  process.exit()
})
