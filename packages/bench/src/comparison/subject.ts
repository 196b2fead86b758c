import type { Redis } from 'ioredis'

/** One limit per client. The client is the header field `client`. */
export interface Limit {
  readonly limit: number
  readonly windowMs: number
}

export interface Site {
  readonly url: string
  close(): Promise<void>
}

/** A limiter as its own documentation installs it, on a server of its own. */
export interface Subject {
  readonly name: string
  /** All of the limits hold for every request. Without `redis` it counts in memory. */
  serve(limits: readonly Limit[], redis?: Redis): Promise<Site>
  /** Makes a limiter, with any value as its limit. */
  make(limit: never): unknown
  /**
   * Floods a limiter in memory, bounded to 1000 keys where that can be set: a client is refused, then each of
   * these keys comes once, then the client again.
   */
  flood(keys: readonly string[]): Promise<Flooded>
}

export interface Flooded {
  /** How many of the keys are still kept. */
  readonly kept: number
  /** Whether the client is admitted again. */
  readonly freed: boolean
}
