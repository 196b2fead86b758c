import { SluiceError } from '@sluice/core'
import {
  ALGORITHM_NAMES,
  type AlgorithmName,
  algorithms as registry,
} from '@sluice/core/algorithms'
import {
  type Algorithm,
  CALENDAR_MS,
  CALENDAR_UNITS,
  type CalendarUnit,
  type PolicyOptions,
  parseDuration,
} from '@sluice/core/store'
import { UsageError } from '@sluice/terminal/usage-error'
import { banOf, numeric, type ReplayFlags } from './flags.ts'
import { LONGEST_HOLD } from './replay-options.ts'
import type { ReplayPlan } from './replay-plan.ts'
import { LedgerRun } from './runs/ledger-run.ts'
import { SharedWindow } from './statistics/shared-window.ts'

const DEFAULT_WINDOW = '1m'

/**
 * The runs that flags ask for: the same limit with each algorithm. Without a limit there are none.
 * @throws UsageError
 */
export function planFlags(flags: ReplayFlags): ReplayPlan {
  try {
    return planOf(flags)
  } catch (error) {
    throw asUsage(error)
  }
}

function planOf(flags: ReplayFlags): ReplayPlan {
  const { limit, window = DEFAULT_WINDOW, timeZone, suggest, burst, maxDelay } = flags
  const { concurrent, duration } = flags
  if (flags.policy !== undefined) {
    throw new UsageError('--policy needs --config: the options say which policies there are')
  }
  if (concurrent !== undefined && duration === undefined) {
    throw new UsageError('--concurrent needs --duration: how long each request took')
  }
  if (limit === undefined && concurrent === undefined && !suggest) {
    throw new UsageError('say which --limit to play, or let one be found with --suggest')
  }
  const algorithms = algorithmsOf(flags)
  if (timeZone !== undefined && !isCalendar(window)) {
    throw new UsageError('--time-zone is for --window day, week or month')
  }
  requireAlgorithm('--burst', burst, 'burst', algorithms)
  requireAlgorithm('--max-delay', maxDelay, 'maxDelay', algorithms)
  const ban = flags.ban === undefined ? undefined : banOf(flags.ban)
  const demand = new SharedWindow(windowMsOf(window), limit === undefined ? 0 : algorithms.length)
  const notes: string[] = []
  const runs: LedgerRun[] = []
  for (const algorithm of limit === undefined ? [] : algorithms) {
    const own = { burst, maxDelay }
    const options = {
      limit: numeric(limit as string),
      window: numeric(window),
      timeZone,
      algorithm,
      ...Object.fromEntries(
        optionsOf(algorithm).flatMap((option) => {
          const value = own[option]
          return value === undefined ? [] : [[option, numeric(value)]]
        }),
      ),
    } as PolicyOptions
    try {
      runs.push(new LedgerRun(algorithm, options, demand, ban))
    } catch (error) {
      // An algorithm that the user has not named may have narrower bounds.
      if (flags.algorithm !== undefined || !isOnlyTooLarge(limit, algorithm)) throw error
      notes.push(`${algorithm} is left out: ${asUsage(error).message}`)
    }
  }
  if (concurrent !== undefined) {
    const options = { concurrent: numeric(concurrent), hold: LONGEST_HOLD } as PolicyOptions
    runs.push(new LedgerRun('concurrency', options, demand, ban))
  }
  return { runs, demands: [demand], whole: false, notes }
}

function algorithmsOf({ algorithm, window = '' }: ReplayFlags): readonly AlgorithmName[] {
  if (algorithm === undefined) return isCalendar(window) ? ['fixed-window'] : ALGORITHM_NAMES
  const names = algorithm.split(',').map((name) => name.trim())
  for (const name of names) {
    if (!ALGORITHM_NAMES.includes(name as AlgorithmName)) {
      throw new UsageError(
        `--algorithm: expected some of ${ALGORITHM_NAMES.join(', ')}, received '${name}'`,
      )
    }
  }
  return [...new Set(names as AlgorithmName[])]
}

type OwnOption = keyof Algorithm['options']

/** The options of an algorithm besides limit and window. */
function optionsOf(name: AlgorithmName): readonly OwnOption[] {
  return Object.keys(registry[name].options) as OwnOption[]
}

function requireAlgorithm(
  flag: string,
  value: string | undefined,
  option: OwnOption,
  played: readonly AlgorithmName[],
): void {
  const takes = (name: AlgorithmName) => optionsOf(name).includes(option)
  if (value === undefined || played.some(takes)) return
  const names = ALGORITHM_NAMES.filter(takes).join(', ')
  throw new UsageError(`${flag} is for ${names}, which is not among --algorithm`)
}

/** Whether a limit is larger than the algorithm takes, and not larger than all others do. */
function isOnlyTooLarge(limit: string | undefined, name: AlgorithmName): boolean {
  const most = Math.max(...ALGORITHM_NAMES.map((each) => registry[each].maxLimit))
  return Number(limit) > registry[name].maxLimit && Number(limit) <= most
}

function isCalendar(window: string): window is CalendarUnit {
  return CALENDAR_UNITS.includes(window as CalendarUnit)
}

/** The length of a window as core reads it, ms. */
function windowMsOf(window: string): number {
  return isCalendar(window) ? CALENDAR_MS[window] : parseDuration('window', numeric(window))
}

/** An error about an option of the core, as one about the flag. */
function asUsage(error: unknown): Error {
  if (!(error instanceof SluiceError)) return error as Error
  const { option, expected, received } = error
  const flag = (option.startsWith('ban') ? 'ban' : option).replace(
    /[A-Z]/g,
    (letter) => `-${letter.toLowerCase()}`,
  )
  return new UsageError(`--${flag}: expected ${expected}, received ${String(received)}`)
}
