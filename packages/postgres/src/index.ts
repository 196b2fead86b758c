export type { PostgresStoreOptions } from '@sluice/core/store'
export type { PostgresClient, PostgresPool } from './pool.ts'
export { type PostgresStore, postgresStore } from './postgres-store.ts'
