import { conflict } from '../errors/conflict.ts'
import type { SluiceError } from '../errors/sluice-error.ts'
import { typeError } from '../options/checks.ts'
import { pathTo } from '../options/known.ts'
import { readOptions } from '../options/read.ts'
import { OPTIONS } from '../options/table.ts'

/** The options of every policy. */
const COMMON = ['name', 'alertAt', 'dryRun', 'enforce', 'live'] as const

/** The options that have no meaning beside `concurrent`. A slot costs one slot, and is settled by its release. */
export const WINDOW_OPTIONS: readonly string[] = [
  ...Object.keys(OPTIONS.policy).filter((option) => !COMMON.some((name) => name === option)),
  'cost',
  'settle',
]

/** The options of a policy with `concurrent` alone. */
export const CONCURRENCY_OPTIONS: readonly string[] = Object.keys(OPTIONS.concurrency)

const EXPECTED = 'either concurrent, perhaps with hold, or limit and window'

/**
 * A policy with `concurrent` as one with a window: its limit is the number of slots, its
 * window the time for which one is held. Other policies are given back as they are.
 *
 * @param path where the options are, for messages: `policies[0]`, or ''
 * @throws SluiceError if it has options that contradict each other
 */
export function asWindowOptions<T extends { limit?: unknown }>(path: string, options: T): T {
  const at = (option: string) => pathTo(path, option)
  const { concurrent, hold, reserve } = options as Record<string, unknown>
  if (concurrent === undefined) {
    if (hold !== undefined && reserve !== true)
      throw notBoth(at('hold'), hold, 'Remove hold, or set concurrent or reserve.')
    if (options.limit === undefined)
      throw typeError(at('limit'), undefined, 'a limit', "Write limit: 100 and window: '1m'.")
    return options
  }
  for (const option of WINDOW_OPTIONS) {
    const received = (options as Record<string, unknown>)[option]
    if (received === undefined) continue
    throw notBoth(at(option), received, `Remove ${option}, or give it to a policy of its own.`)
  }
  const values = readOptions(OPTIONS.concurrency, path, options)
  return { ...options, limit: values.concurrent, window: values.hold }
}

function notBoth(option: string, received: unknown, fix: string): SluiceError {
  return conflict(option, EXPECTED, received, fix)
}
