export { whyNoPgBouncer, whyNoPostgres } from './binary.ts'
export { type PgBouncer, startPgBouncer } from './pgbouncer.ts'
export { type PostgresServer, startPostgres } from './server.ts'
