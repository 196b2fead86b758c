import type { Duration } from '@sluice/core'
import type { BanOptions } from '@sluice/core/store'
import { UsageError } from '@sluice/terminal/usage-error'

/** The flags of `replay` as they were typed. */
export interface ReplayFlags {
  readonly limit?: string
  readonly window?: string
  readonly timeZone?: string
  readonly algorithm?: string
  readonly burst?: string
  readonly maxDelay?: string
  readonly ban?: string
  readonly concurrent?: string
  readonly config?: string
  readonly policy?: string
  readonly suggest?: boolean
  readonly format?: string
  readonly key?: string
  readonly time?: string
  readonly cost?: string
  readonly duration?: string
  readonly loggedAt?: 'start' | 'end'
  /** True: to standard output. */
  readonly json?: string | true
  readonly html?: string
  readonly showClients?: boolean
  readonly failIfRefused?: string
}

/** A number in digits, else the unchanged text: the core then reports the mistake. */
export function numeric(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text
}

/** `3/1h/1m,10m,1d`: after so many refusals, within this time, for these. @throws UsageError */
export function banOf(text: string): BanOptions {
  const [, after, within, durations] = /^(\d+)\/([^/]+)\/([^/]+)$/.exec(text.trim()) ?? []
  if (after === undefined || within === undefined || durations === undefined) {
    throw new UsageError(
      `--ban: expected refusals/within/durations such as 3/1h/1m,10m,1d, received '${text}'`,
    )
  }
  return {
    after: Number(after),
    within: numeric(within) as Duration,
    for: durations.split(',').map((each) => numeric(each.trim()) as Duration),
  }
}

/** `0.1%` or `0.001`, as a share. @throws UsageError */
export function shareOf(flag: string, text: string): number {
  const [, digits, sign] = /^(\d+(?:\.\d+)?|\.\d+)\s*(%?)$/.exec(text.trim()) ?? []
  const share = Number(digits) / (sign === '%' ? 100 : 1)
  if (share >= 0 && share <= 1) return share
  throw new UsageError(`${flag}: expected a share such as 0.1% or 0.001, received '${text}'`)
}
