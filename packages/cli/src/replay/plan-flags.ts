import { type AlgorithmName, createLimiter, type RateLimitOptions, SluiceError } from '@sluice/core'

import { numeric, type ReplayFlags } from '../command/flags.ts'
import { UsageError } from '../command/usage-error.ts'
import type { LogEntry } from '../log/log-entry.ts'
import type { Plan } from './plan.ts'
import { LedgerRun } from './runs/ledger-run.ts'
import { SharedWindow } from './statistics/shared-window.ts'

export const ALGORITHMS: readonly AlgorithmName[] = [
  'sliding-window',
  'fixed-window',
  'sliding-log',
  'token-bucket',
  'leaky-bucket',
]

const DEFAULT_WINDOW = '1m'

/**
 * The runs that flags ask for: the same terms by each algorithm. Without a limit there are none.
 * @throws UsageError
 */
export function planFlags(flags: ReplayFlags): Plan {
  const { limit, window = DEFAULT_WINDOW, suggest, burst, maxDelay } = flags
  if (limit === undefined && !suggest) {
    throw new UsageError('say which --limit to play, or let one be found with --suggest')
  }
  const algorithms = algorithmsOf(flags)
  requireAlgorithm('--burst', burst, 'token-bucket', algorithms)
  requireAlgorithm('--max-delay', maxDelay, 'leaky-bucket', algorithms)
  const demand = new SharedWindow(windowMsOf(window), limit === undefined ? 0 : algorithms.length)
  const notes: string[] = []
  const runs: LedgerRun[] = []
  for (const algorithm of limit === undefined ? [] : algorithms) {
    const options = {
      limit: numeric(limit as string),
      window: numeric(window),
      algorithm,
      ...(algorithm === 'token-bucket' && burst !== undefined && { burst: numeric(burst) }),
      ...(algorithm === 'leaky-bucket' &&
        maxDelay !== undefined && { maxDelay: numeric(maxDelay) }),
    } as RateLimitOptions<LogEntry, never>
    try {
      runs.push(new LedgerRun(algorithm, options, demand))
    } catch (error) {
      // Of five that nobody has named, one may have narrower bounds.
      if (flags.algorithm !== undefined || algorithm !== 'sliding-log') throw asUsage(error)
      notes.push(`sliding-log is left out: ${asUsage(error).message}`)
    }
  }
  return { runs, demands: [demand], whole: false, notes }
}

function algorithmsOf({ algorithm }: ReplayFlags): readonly AlgorithmName[] {
  if (algorithm === undefined) return ALGORITHMS
  const names = algorithm.split(',').map((name) => name.trim())
  for (const name of names) {
    if (!ALGORITHMS.includes(name as AlgorithmName)) {
      throw new UsageError(
        `--algorithm: expected some of ${ALGORITHMS.join(', ')}, received '${name}'`,
      )
    }
  }
  return [...new Set(names as AlgorithmName[])]
}

function requireAlgorithm(
  flag: string,
  value: string | undefined,
  algorithm: AlgorithmName,
  played: readonly AlgorithmName[],
): void {
  if (value === undefined || played.includes(algorithm)) return
  throw new UsageError(`${flag} is for ${algorithm}, which is not among --algorithm`)
}

/** As the core reads it. */
function windowMsOf(window: string): number {
  try {
    const limiter = createLimiter({ limit: 1, window: numeric(window) as number })
    const { policies } = limiter.peek('client')
    limiter.close()
    return policies[0]?.windowMs as number
  } catch (error) {
    throw asUsage(error)
  }
}

/** What the core says of an option, said of the flag. */
function asUsage(error: unknown): Error {
  if (!(error instanceof SluiceError)) return error as Error
  const { option, expected, received } = error
  const flag = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return new UsageError(`--${flag}: expected ${expected}, received ${String(received)}`)
}
