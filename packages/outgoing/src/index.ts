export type { Dialect } from './fields.ts'
export { limitOutgoing, type PacedFetch } from './limit-outgoing.ts'
export type { OutgoingOptions, OutgoingPolicy, OutgoingRequest, RetryOptions } from './options.ts'
