import type { RequestListener } from 'node:http'
import type { RateLimitOptions } from '@sluice/node'
import { limiterFields } from './limiter-fields.ts'
import { LIMIT, WINDOW_MS } from './terms.ts'

type Application = RequestListener | Promise<RequestListener>

/**
 * Contenders by name. Each makes an application of one framework that answers `GET /` with a small JSON body
 * behind that limiter, which counts in memory. `bare` has no limiter.
 */
export interface HttpContenders {
  readonly [name: string]: () => Application
}

/** The name of our contender with the algorithm and the fields of the framework's best-known limiter. */
export const AS_PEER = "sluice, its peer's algorithm and fields"
/** Empty hooks that set those fields, and the default ones, as constants. */
export const FLOOR_OF_PEER = 'floor: the same fields, constant'
export const FLOOR_OF_DEFAULTS = 'floor: the default fields, constant'

type HeaderProfile = NonNullable<RateLimitOptions['headers']>

/** Our options. */
interface Terms {
  readonly limit: number
  readonly window: number
  readonly algorithm?: 'fixed-window'
  readonly headers?: HeaderProfile
}

/** A framework, and what may limit its applications: a middleware or a plugin. */
interface Framework<Limiter> {
  serve(limiter?: Limiter): Application
  sluice(terms: Terms): Limiter
  /** The profile of the fields that its best-known limiter sets. */
  readonly headers: HeaderProfile
  /** Sets these fields. */
  constant(fields: readonly (readonly [name: string, value: string])[]): Limiter
  readonly peers: { readonly [name: string]: () => Limiter }
}

export function contendersOf<Limiter>(framework: Framework<Limiter>): HttpContenders {
  const { serve, sluice, headers, constant, peers } = framework
  const terms = { limit: LIMIT, window: WINDOW_MS }
  const defaults = () => serve(sluice(terms))
  const asPeer = () => serve(sluice({ ...terms, algorithm: 'fixed-window', headers }))
  const floor = async (like: Application) => serve(constant(await limiterFields(await like)))
  return {
    bare: () => serve(),
    sluice: defaults,
    [AS_PEER]: asPeer,
    ...Object.fromEntries(Object.entries(peers).map(([name, make]) => [name, () => serve(make())])),
    [FLOOR_OF_PEER]: () => floor(asPeer()),
    [FLOOR_OF_DEFAULTS]: () => floor(defaults()),
  }
}
