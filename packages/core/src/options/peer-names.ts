import { inspect } from '#platform'
import { isShown } from '../errors/describe.ts'
import type { PeerNames } from './option.ts'
import { OPTIONS } from './table.ts'

/** The option here that another limiter's option corresponds to. */
export interface OptionHere {
  readonly option: string
  /** True if the value can stay the same, else what to write here. */
  readonly instead: true | string
}

/** The options here by the name that another package has for them. */
const HERE = new Map<string, OptionHere>(
  Object.values(OPTIONS)
    .flatMap((options) => Object.entries(options))
    .flatMap(([option, { peers = {} }]: [string, { peers?: PeerNames }]) =>
      Object.entries(peers).map(([name, instead]) => [name, { option, instead }] as const),
    ),
)

/**
 * The option here for one of express-rate-limit, express-slow-down, @fastify/rate-limit,
 * koa-ratelimit, rate-limiter-flexible or @nestjs/throttler; undefined if there is none.
 */
export function optionHere(name: string): OptionHere | undefined {
  return HERE.get(name)
}

/** The option here as text, with the value where that can stay and can't be a secret. */
export function hereInsteadOf(name: string, value: unknown): string | undefined {
  const here = optionHere(name)
  if (here?.instead !== true) return here?.instead
  const { option } = here
  if (typeof value === 'number') return `${option}: ${grouped(value)}`
  return typeof value === 'string' && isShown(value) ? `${option}: ${inspect(value)}` : option
}

/** `60_000`, as in source code. */
function grouped(value: number): string {
  return Number.isInteger(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, '_') : inspect(value)
}
