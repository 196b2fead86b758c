export type { SqliteStoreOptions } from '@sluice/core/store'
export { sqliteStore } from './sqlite-store.ts'
