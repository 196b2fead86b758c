import type { FormatName } from '../log/formats/format.ts'
import { UsageError } from './usage-error.ts'

/** As they were typed. */
export interface ReplayFlags {
  readonly limit?: string
  readonly window?: string
  readonly timeZone?: string
  readonly algorithm?: string
  readonly burst?: string
  readonly maxDelay?: string
  readonly config?: string
  readonly suggest?: boolean
  readonly format?: FormatName
  readonly key?: string
  readonly time?: string
  readonly cost?: string
  /** True: to standard output. */
  readonly json?: string | true
  readonly html?: string
  readonly showClients?: boolean
  readonly failIfRefused?: string
}

/** A number in digits, else the unchanged text: the core then reports what is wrong with it. */
export function numeric(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text
}

/** `0.1%` or `0.001`, as a share. @throws UsageError */
export function shareOf(text: string): number {
  const [, digits, sign] = /^(\d+(?:\.\d+)?|\.\d+)\s*(%?)$/.exec(text.trim()) ?? []
  const share = Number(digits) / (sign === '%' ? 100 : 1)
  if (share >= 0 && share <= 1) return share
  throw new UsageError(
    `--fail-if-refused: expected a share such as 0.1% or 0.001, received '${text}'`,
  )
}
