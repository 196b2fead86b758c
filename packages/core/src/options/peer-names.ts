import { inspect } from '#platform'
import { isShown } from '../errors/describe.ts'
import type { Option } from './option.ts'
import { OPTIONS } from './table.ts'

/** Why there is nothing here for options of other packages: their names, by the reason. */
export const NOT_HERE: Readonly<Record<string, string>> = {
  'options are always checked': 'validate',
  'warnings are process warnings': 'logger',
  'it is always the time to wait': 'retryAfter',
  'it is always rateLimit': 'requestPropertyName',
  'skip and routes exempt some routes': 'global',
  'a refusal costs nothing': 'continueExceeding exponentialBackoff',
  'routes that share a hook share their quota': 'groupId',
}

/**
 * The option here for one of express-rate-limit, express-slow-down, @fastify/rate-limit,
 * koa-ratelimit, hono-rate-limiter, @nestjs/throttler, rate-limiter-flexible or @upstash/ratelimit;
 * undefined if there is none. `instead` is true if the value can stay the same, else what to write here.
 */
export function optionHere(
  name: string,
): { readonly option: string; readonly instead: true | string } | undefined {
  for (const options of Object.values(OPTIONS)) {
    for (const [option, { aliases = '', peers = {} }] of Object.entries<Option>(options)) {
      const instead = aliases.split(' ').includes(name) || textFor(name, peers)
      if (instead) return { option, instead }
    }
  }
  return undefined
}

/** The option here as text, with the value where that can stay and can't be a secret. */
export function hereInsteadOf(name: string, value: unknown): string | undefined {
  const here = optionHere(name)
  if (here?.instead !== true) return here?.instead
  const { option } = here
  if (typeof value === 'number') return `${option}: ${grouped(value)}`
  return typeof value === 'string' && isShown(value) ? `${option}: ${inspect(value)}` : option
}

/** The text whose names, with spaces between them, contain this one. */
export function textFor(name: string, names: Readonly<Record<string, string>>): string | undefined {
  return Object.keys(names).find((text) => names[text]?.split(' ').includes(name))
}

/** `60_000`, as in source code. */
function grouped(value: number): string {
  return Number.isInteger(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, '_') : inspect(value)
}
