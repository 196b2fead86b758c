import type { PolicySettings } from '@sluice/core/operator'
import { UsageError } from '@sluice/terminal/usage-error'
import { numeric, shareOf } from '../../replay/flags.ts'
import type { StoreFlags } from '../flags.ts'

/** The flags of `sluice policy` as they were typed. */
export interface PolicyFlags extends StoreFlags, SettingFlags {
  readonly json?: boolean
  readonly yes?: boolean
  readonly by?: string
  /** `list`: count all clients that have a limit of their own. */
  readonly all?: boolean
  readonly for?: string
  readonly preview?: boolean
}

/** Settings as they were typed. */
export interface SettingFlags {
  readonly limit?: string
  readonly burst?: string
  readonly maxDelay?: string
  readonly concurrent?: string
  readonly alertAt?: string
  readonly dryRun?: boolean
  readonly enforce?: string
}

/** Reads the settings of `set`. @throws UsageError */
export function settingsOf(flags: SettingFlags): PolicySettings {
  const { limit, burst, maxDelay, concurrent, alertAt, dryRun, enforce } = flags
  const settings = {
    limit: unitsOf('--limit', limit),
    burst: unitsOf('--burst', burst),
    maxDelay:
      maxDelay === undefined ? undefined : (numeric(maxDelay) as PolicySettings['maxDelay']),
    concurrent: unitsOf('--concurrent', concurrent),
    alertAt: alertAt?.split(',').map((each) => shareOf('--alert-at', each)),
    dryRun,
    enforce: enforce === undefined ? undefined : shareOf('--enforce', enforce),
  }
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  if (given.length > 0) return Object.fromEntries(given)
  throw new UsageError(
    'say what to set: --limit, --burst, --max-delay, --concurrent, --alert-at, --dry-run or --enforce',
  )
}

function unitsOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,16}$/.test(text)) return text === undefined ? text : Number(text)
  throw new UsageError(`${flag}: expected units, an integer, received '${text}'`)
}

/** The number of a change; undefined: the last one. @throws UsageError */
export function changeNumber(text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,15}$/.test(text)) return text === undefined ? text : Number(text)
  throw new UsageError(`expected the number of a change, as history shows it, received '${text}'`)
}
