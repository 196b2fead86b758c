import type { Imports } from '../imports.ts'

/** A limiter that Sluice can take the place of. */
export interface Peer {
  /** The name of its package. */
  readonly name: string
  /** The package that takes its place; undefined: none does. */
  readonly sluice?: string
  /** Whether files may use it that do not import it. */
  readonly isFoundByOptions?: true
  /** Rewrites what uses it. @param imports the imports of its package */
  migrate(imports: Imports): void
}
