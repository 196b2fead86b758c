// Generated from options/table.ts by "npm run generate". Do not edit.
import type { Duration } from '@sluice/core'

/** A class of requests. */
export interface ClassOptions {
  /**
   * The share of places, and of requests that begin, that is reserved for this class while it needs it: 0 to 1.
   * The shares of all classes add up to at most 1. Default: 0.
   */
  reserve?: number | undefined
}

/** How many requests may wait, and for how long. */
export interface QueueOptions {
  /** The most requests that wait, 1 to 100,000. Default: 200. */
  max?: number | undefined
  /** The longest wait, 1 ms to 1 minute. Default: `'1s'`. */
  maxWait?: Duration | undefined
}

/** The options of `shedLoad` besides those that it shares with `rateLimit`. */
export interface OverloadOptions<Request, Class extends string> {
  /**
   * Returns the class of a request. Decide by what the server knows, such as the route or a
   * verified user. Called for every request. A name that is not in `classes` counts as the last
   * class. Default: all requests are in one class.
   */
  classOf?: ((request: Request) => Class) | undefined
  /**
   * The classes, most important first, at most 16. Important requests begin first, and the others
   * are shed first. Object. Default: one class.
   */
  classes?: Readonly<Record<Class, ClassOptions>> | undefined
  /**
   * How many requests may wait, and for how long. While more requests arrive than the process can
   * serve, fewer wait, and for less time. Object: `{ max, maxWait }`. Default: `{ max: 200,
   * maxWait: '1s' }`.
   */
  queue?: QueueOptions | undefined
}
