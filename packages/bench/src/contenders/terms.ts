import type { Cluster, Redis } from 'ioredis'

/** A limit so high that nobody is refused: what is compared is the way of a request that is admitted. */
export const LIMIT = 1_000_000_000
export const WINDOW_MS = 3_600_000

/** The body of every response. */
export const BODY = { hello: 'world' }

/** Counts one request of a key; gives some number of the answer. */
export type Decide = (key: string) => Promise<number>

export type Client = Redis | Cluster
