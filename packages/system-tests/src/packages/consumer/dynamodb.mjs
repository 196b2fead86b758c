// Prints who decides a request while there is no DynamoDB.

import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createLimiter } from '@sluice/core'
import { dynamodbStore } from '@sluice/dynamodb'

const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
const client = new DynamoDBClient({
  endpoint: 'http://127.0.0.1:1',
  region: 'us-east-1',
  credentials,
})
const limiter = createLimiter({ store: dynamodbStore(client), limit: 2, window: '1d' })
limiter.consume('client').then(({ source }) => {
  console.log(JSON.stringify({ sources: [source] }))
  process.exit()
})
