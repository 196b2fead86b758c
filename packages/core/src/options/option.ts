import type { OptionType } from './types.ts'

/** A row of the table of options. */
export interface Option {
  readonly type: OptionType<unknown>
  /** Its value if it is not set, as a user writes it. Without one it stays undefined. */
  readonly default?: unknown
  /** True if it must be set, unless another one stands in its place. */
  readonly required?: true
  /**
   * Set if, in an adapter, it can also be a function of the request that returns the value; or, if not every
   * value can vary, what it returns.
   */
  readonly perRequest?: true | Pick<OptionType<unknown>, 'form' | 'typescript'>
  /** It can be set only in an entry of `policies`. */
  readonly onlyInPolicies?: true
  /** It can also be set in an entry of `policies`. If it is not, that of the limiter applies. */
  readonly inPolicies?: true
  /** False: an entry for a route can't replace it. */
  readonly perRoute?: false
  /** Its names in other limiters, with spaces between them, where the value can stay the same. */
  readonly aliases?: string
  /** The text to write here, each with the names of options of other limiters that it replaces, with spaces between them. */
  readonly peers?: Readonly<Record<string, string>>
}

/** Rows that apply in the same place, by name. */
export type Options = Readonly<Record<string, Option>>
