import { inspect } from '#platform'
import type { PeerNames } from './option.ts'
import { OPTIONS } from './table.ts'

/** Options of other limiters that are methods here. */
const METHODS: PeerNames = {
  ban: 'limiter.block(key, duration), from onDecision',
  blockDuration: 'limiter.block(key, duration), from onDecision',
}

/** By the name there: the option here, and what to write instead. */
const HERE = new Map<string, readonly [option: string, instead: true | string]>([
  ...entriesOf('', METHODS),
  ...Object.values(OPTIONS)
    .flatMap((options) => Object.entries(options))
    .flatMap(([option, { peers = {} }]: [string, { peers?: PeerNames }]) =>
      entriesOf(option, peers),
    ),
])

function entriesOf(option: string, peers: PeerNames) {
  return Object.entries(peers).map(([name, instead]) => [name, [option, instead]] as const)
}

/**
 * What an option of express-rate-limit, express-slow-down, @fastify/rate-limit, koa-ratelimit,
 * rate-limiter-flexible or @nestjs/throttler is called here, with its value where that can stay.
 */
export function hereInsteadOf(name: string, value: unknown): string | undefined {
  const [option, instead] = HERE.get(name) ?? []
  if (instead !== true) return instead
  if (typeof value === 'number') return `${option}: ${grouped(value)}`
  return typeof value === 'string' ? `${option}: ${inspect(value)}` : option
}

/** `60_000`, as in source code. */
function grouped(value: number): string {
  return Number.isInteger(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, '_') : inspect(value)
}
