export type { SqliteStoreOptions } from '@sluice/transactional'
export { sqliteStore } from './sqlite-store.ts'
