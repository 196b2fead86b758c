import type { OptionType } from './types.ts'

/**
 * The names of an option in other limiters: `true` if the value can stay the same, else what to write
 * here.
 */
export type PeerNames = Readonly<Record<string, true | string>>

/** What happens if an option is not set: exactly one of these. */
type Unset =
  /** It is required, with exceptions in words: `` unless `policies` is set ``. */
  | { readonly required: string; readonly default?: never; readonly unset?: never }
  /** A value as a user writes it. */
  | { readonly default: unknown; readonly required?: never; readonly unset?: never }
  /** What happens instead, in words, as Markdown; the code gets undefined. */
  | { readonly unset: string; readonly required?: never; readonly default?: never }

/** A row of the table of options. */
export type Option = Unset & {
  readonly type: OptionType<unknown>
  /** What it does, in sentences, as Markdown. Its values and its default are not repeated. */
  readonly description: string
  /** Where to read more; only for the reference page. */
  readonly see?: string
  /**
   * Set if, in an adapter, it can also be a function of the request that returns the value; or, if not every
   * value can vary, what it returns.
   */
  readonly perRequest?: true | Pick<OptionType<unknown>, 'form' | 'typescript'>
  /** It can be set only in an entry of `policies`. */
  readonly onlyInPolicies?: true
  /** It can also be set in an entry of `policies`: the value there if it is not. */
  readonly inPolicies?: string
  /** False: an entry for a route can't replace it. */
  readonly perRoute?: false
  readonly peers?: PeerNames
}

/** Rows that apply in the same place, by name. */
export type Options = Readonly<Record<string, Option>>
