import type { Imports } from '../imports.ts'

/** A limiter that Sluice can take the place of. */
export interface Peer {
  /** The name of its package. */
  readonly name: string
  /** The package that takes its place; undefined: none does. */
  readonly sluice?: string
  /** Rewrites what uses it. @param imports those of its package. @returns false if nothing does */
  migrate(imports: Imports): boolean
}
