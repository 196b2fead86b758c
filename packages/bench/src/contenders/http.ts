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
