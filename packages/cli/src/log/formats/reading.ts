import type { Clients } from '../clients.ts'
import type { Mask } from '../mask.ts'
import type { DurationField } from './duration.ts'
import type { FieldNames } from './field-names.ts'
import type { LinePattern } from './line-pattern.ts'

export const FORMATS = ['combined', 'json', 'csv'] as const
/** `pattern`: as `Reading.pattern` says. */
export type FormatName = (typeof FORMATS)[number] | 'pattern'

/** What a replay reads from a log, and where it is in the log. */
export interface Reading {
  /** Numbers them. */
  readonly clients: Clients
  /** What was asked for; the rest is found by its usual names. Combined: `key` is `ip` or `user`. */
  readonly fields: FieldNames
  /** How the user describes each line. */
  readonly pattern?: LinePattern | undefined
  /** Undefined: how long requests took is not read. */
  readonly duration?: DurationField | undefined
  /** True: entries have everything that a line says. False: only time, client and cost. */
  readonly whole: boolean
  /** Which parts of a line may be shown. */
  readonly mask: Mask
}
