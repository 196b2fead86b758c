export type { PostgresStoreOptions } from '@sluice/transactional'
export type { PostgresClient, PostgresPool } from './pool.ts'
export type { PostgresJsClient } from './postgres-js.ts'
export { type PostgresStore, postgresStore } from './postgres-store.ts'
