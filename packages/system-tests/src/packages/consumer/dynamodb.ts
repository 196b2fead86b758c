// Compiled as ESM (.mts) and as CommonJS (.cts) against the packed declarations; never run.

import { DynamoDB, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocument, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createLimiter } from '@sluice/core'
import { type DynamodbStoreOptions, dynamodbStore } from '@sluice/dynamodb'

const options: DynamodbStoreOptions = { table: 'limits', clock: () => 1_800_000_000_000 }
const store = dynamodbStore(DynamoDBDocumentClient.from(new DynamoDBClient()), options)
export const migrated: Promise<void> = store.migrate()

export const limiter = createLimiter({ store, limit: 2, window: '1m' })
export const remaining: Promise<number> = limiter.consume('client').then((each) => each.remaining)

dynamodbStore(new DynamoDBClient())
dynamodbStore(new DynamoDB())
dynamodbStore(DynamoDBDocument.from(new DynamoDBClient()))
// @ts-expect-error The settings are no client.
dynamodbStore({ region: 'us-east-1' })
// @ts-expect-error The types are not any.
store.migrate(1).then((each) => each.length)
