import type { Server } from 'node:http'
import type { Redis } from 'ioredis'

/**
 * By name, each starts a server of one framework that answers `GET /` with a small JSON body, on a
 * free loopback port, behind that limiter: in memory, or on the client, which has ioredis'
 * defaults. `bare` has no limiter.
 */
export interface HttpContenders {
  readonly [name: string]: (client?: Redis) => Server | Promise<Server>
}

/** Ours, with the algorithm and the fields of the framework's best-known limiter; in memory only. */
export const AS_PEER = "sluice, its peer's algorithm and fields"
