import type { Source } from '../source.ts'

/** A limiter that Sluice can take the place of. */
export interface Peer {
  /** The name of its package. */
  readonly name: string
  /** The package that takes its place; undefined: none does. */
  readonly sluice?: string
  /** Rewrites what uses it. @returns false if nothing does */
  migrate(source: Source): boolean
}
