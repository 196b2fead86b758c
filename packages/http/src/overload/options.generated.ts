// Generated from options/table.ts by "npm run generate". Do not edit.
import type { Duration } from '@sluice/core'

/** A class of requests. */
export interface ClassOptions {
  /**
   * A share of the places, and of the requests that begin, that no other class gets while this one needs it: 0 to 1.
   * All together are at most 1. Default: 0.
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
   * The class of a request. Decide by what the server knows, such as the route or the user of a
   * verified token. Called for every request. A name that is not in `classes` counts as the last
   * one. Default: all requests are in one class.
   */
  classOf?: ((request: Request) => Class) | undefined
  /**
   * The classes, the most important first, at most 16. Requests of earlier classes begin first;
   * those of later classes are shed first. Object. Default: one class.
   */
  classes?: Readonly<Record<Class, ClassOptions>> | undefined
  /**
   * How many requests may wait, and for how long. Under overload, fewer wait, and for less time.
   * Object: `{ max, maxWait }`. Default: `{ max: 200, maxWait: '1s' }`.
   */
  queue?: QueueOptions | undefined
}
