export const HANDLERS = ['cpu', 'database', 'mix'] as const
export type Handler = (typeof HANDLERS)[number]

export const CONTENDERS = [
  'none',
  'sluice',
  'sluice in front',
  '@fastify/under-pressure',
  'overload-protection',
  'toobusy-js',
] as const

/** The arguments of a server's process. */
export interface Job {
  readonly contender: (typeof CONTENDERS)[number]
  readonly handler: Handler
}

/** The measurements of one server at one load. */
export interface Run {
  readonly handler: string
  readonly contender: string
  readonly load: number
  /** Answers within 1 s, beside the capacity. */
  readonly goodput: number
  /** The share of the critical requests that are answered within 1 s. */
  readonly critical: number
  readonly refused: number
  /** The slowest hundredth of those that are served, ms. */
  readonly p99: number
  /** The first second after the load without a refusal, s; Infinity if there is none. */
  readonly recovered: number
  readonly grownMB: number
  readonly health: number
}
