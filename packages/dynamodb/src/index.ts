export type { DynamodbStoreOptions } from '@sluice/transactional'
export type { DynamodbClient } from './client.ts'
export { type DynamodbStore, dynamodbStore } from './dynamodb-store.ts'
