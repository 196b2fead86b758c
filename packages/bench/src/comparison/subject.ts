import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Redis } from 'ioredis'

export interface Limit {
  readonly limit: number
  readonly windowMs: number
}

export interface Site {
  readonly url: string
  close(): Promise<void>
}

/** A limiter as its own documentation installs it, with its defaults, on a server of its own. */
export interface Subject {
  readonly name: string
  /** It has no counts in memory. */
  readonly needsRedis?: true
  /**
   * Serves a page. Every request has to keep all of the limits, each by a key of its own: see `clientOf`.
   * @param redis Without one it counts in memory.
   */
  serve(limits: readonly Limit[], redis?: Redis): Promise<Site>
  /**
   * Floods a limiter in memory, bounded to 1000 keys where that can be set: a client is refused, then each of
   * these keys comes once, then the client again.
   */
  flood?(keys: readonly string[]): Promise<Flooded>
}

export interface Flooded {
  /** How many of the keys are still kept. */
  readonly kept: number
  /** Whether the client is admitted again. */
  readonly freed: boolean
}

/** The client of a request for one of the limits: the header field `client-0`, `client-1`. */
export function clientOf(headers: Readonly<Record<string, unknown>>, limit: number): string {
  return String(headers[`client-${limit}`])
}

/** A prefix that no other limiter on the same Redis has. */
export function newPrefix(): string {
  return `peer-${Math.random().toString(36).slice(2)}:`
}

export async function listen(listener: RequestListener): Promise<Site> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
