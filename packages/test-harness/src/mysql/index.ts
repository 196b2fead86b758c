export { whyNoMysql } from './binary.ts'
export { type MysqlServer, startMysql } from './server.ts'
