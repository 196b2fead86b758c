export type { MysqlStoreOptions } from '@sluice/transactional'
export { type MysqlStore, mysqlStore } from './mysql-store.ts'
export type { MysqlConnection, MysqlPool } from './pool.ts'
