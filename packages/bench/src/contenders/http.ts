import type { RequestListener } from 'node:http'

/**
 * Contenders by name. Each makes an application of one framework that answers `GET /` with a small JSON body
 * behind that limiter, which counts in memory. `bare` has no limiter.
 */
export interface HttpContenders {
  readonly [name: string]: () => RequestListener | Promise<RequestListener>
}

/** The name of our contender with the algorithm and the fields of the framework's best-known limiter. */
export const AS_PEER = "sluice, its peer's algorithm and fields"
/** Empty hooks that set those fields, and the default ones, as constants. */
export const FLOOR_OF_PEER = 'floor: the same fields, constant'
export const FLOOR_OF_DEFAULTS = 'floor: the default fields, constant'
