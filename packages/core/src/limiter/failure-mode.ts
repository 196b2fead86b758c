import type { Values } from '../options/read.ts'
import type { OPTIONS } from '../options/table.ts'
import type { FailureMode } from '../stores/resilient/failure-mode.ts'
import type { Policy } from './policy.ts'

/**
 * What a limiter does if a remote store is slow, or down. A memory store never is.
 *
 * @param settles whether the limiter settles what it has charged
 */
export function compileFailureMode(
  options: Values<typeof OPTIONS.store>,
  policies: readonly Policy[],
  settles: boolean,
): FailureMode {
  const { deadline, onStoreError, refusalCache, localShare } = options
  return {
    deadlineMs: deadline,
    onStoreError,
    refusalCache,
    settles,
    localShare,
    localLimit: (policy, limit) => (policies[policy] as Policy).shareOf(limit, localShare),
  }
}
