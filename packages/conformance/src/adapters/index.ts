export type { Adapter, Site } from './adapter.ts'
export { type Reply, type SendOptions, send, type Target } from './client.ts'
export { adapterSuite } from './suite.ts'
