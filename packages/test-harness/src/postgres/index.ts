export { whyNoPostgres } from './binary.ts'
export { type PostgresServer, startPostgres } from './server.ts'
