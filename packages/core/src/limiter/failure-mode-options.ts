import { SluiceError } from '../errors/sluice-error.ts'
import { checkBoolean, checkOneOf } from '../options/checks.ts'
import { type Duration, parseDuration } from '../options/duration.ts'
import type { FailureMode } from '../stores/resilient/resilient-ledger.ts'
import type { Policy } from './policy.ts'

/** What a limiter does about a remote store that is slow, or down. A memory store never is. */
export interface FailureModeOptions {
  /** The longest that a request waits for the store: 1 ms … 1 minute. Default: 100 ms. */
  deadline?: Duration
  /**
   * What decides while the store can't: `'local'` limits in this process by the same policies,
   * starting from what it has admitted itself; `'allow'` lets all requests through; `'deny'`
   * refuses them with 503. Default: `'local'`.
   */
  onStoreError?: 'local' | 'allow' | 'deny'
  /**
   * The share of every limit that this process admits by itself, above 0, up to 1, at least one unit:
   * 0.25 where four processes share the load. What Redis still holds when it is back comes on top.
   * Default: 1.
   */
  localShare?: number
  /**
   * Whether a client that has nothing left is refused from memory, for at most 10 s before the
   * store is asked again. What another process gives back by `reset` or `settle` is seen no sooner.
   * Default: true, unless something in this process settles on the same quota.
   */
  refusalCache?: boolean
}

export const FAILURE_MODE_OPTIONS = [
  'deadline',
  'onStoreError',
  'localShare',
  'refusalCache',
] as const

const MAX_DEADLINE_MS = 60_000

/**
 * @param settles whether the limiter settles what it has charged
 * @throws SluiceError
 */
export function compileFailureMode(
  options: FailureModeOptions,
  policies: readonly Policy[],
  settles: boolean,
): FailureMode {
  const { onStoreError = 'local', refusalCache, localShare = 1 } = options
  const share = checkLocalShare(localShare)
  return {
    deadlineMs: checkDeadline(options.deadline ?? 100),
    onStoreError: checkOneOf('onStoreError', onStoreError, ['local', 'allow', 'deny']),
    refusalCache:
      refusalCache === undefined ? undefined : checkBoolean('refusalCache', refusalCache),
    settles,
    localShare: share,
    localLimit: (policy, limit) => (policies[policy] as Policy).shareOf(limit, share),
  }
}

function checkDeadline(deadline: unknown): number {
  const ms = parseDuration('deadline', deadline)
  if (ms <= MAX_DEADLINE_MS) return ms
  throw new SluiceError({
    code: 'SLUICE_OPTION_RANGE',
    option: 'deadline',
    expected: 'from 1 ms to 1 minute',
    received: deadline,
    fix: 'Choose a time that your clients can wait, such as 100 ms.',
  })
}

function checkLocalShare(share: unknown): number {
  if (typeof share === 'number' && share > 0 && share <= 1) return share
  throw new SluiceError({
    code: typeof share === 'number' ? 'SLUICE_OPTION_RANGE' : 'SLUICE_OPTION_TYPE',
    option: 'localShare',
    expected: 'a number above 0, up to 1',
    received: share,
    fix: 'Give one process its share of the load: 0.25 for four processes.',
  })
}
