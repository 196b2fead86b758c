export { type LedgerVerbs, withVerbs } from '@sluice/core/testing'
export {
  type AdapterKit,
  type Answer,
  middlewareOf,
  type Site,
  type SuiteRequest,
} from './adapter/adapter-kit.ts'
export { type AdapterStores, adapterSuite } from './adapter/adapter-suite.ts'
export { streamChunks, writeChunks } from './adapter/chunks.ts'
export { fetchServer } from './adapter/fetch-server.ts'
export type { Runner } from './runner.ts'
export type { StoreKit } from './store/store-kit.ts'
export { storeSuite } from './store/store-suite.ts'
