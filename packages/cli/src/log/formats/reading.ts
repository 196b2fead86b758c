import type { Clients } from '../clients.ts'
import type { Mask } from '../mask.ts'
import type { DurationField } from './duration.ts'
import type { FieldNames } from './field-names.ts'
import type { LinePattern } from './line-pattern.ts'

export const FORMATS = ['combined', 'json', 'csv'] as const
/** `pattern`: as `Reading.pattern` says. */
export type FormatName = (typeof FORMATS)[number] | 'pattern'

/** The reading of a log: its fields, and the time of a line. */
export interface Reading {
  /** Numbers them. */
  readonly clients: Clients
  /** The fields that were asked for; the others are found by their usual names. Combined: `key` is `ip` or `user`. */
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
