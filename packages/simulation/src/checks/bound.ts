import type { PlannedPolicy } from '../plan.ts'

/** The most units that a policy admits, from one moment to another `ms` later. */
export function boundOf(
  {
    algorithm,
    window,
    burst,
    maxDelay = 0,
    limit: planned,
  }: Extract<PlannedPolicy, { window: number }>,
  limit: number,
  ms: number,
): number {
  const drained = (limit * ms) / window
  // A burst that is the policy's limit follows a client's own limit, as one that is not set.
  if (algorithm === 'token-bucket')
    return Math.max(burst === undefined || burst === planned ? limit : burst, 1) + drained
  if (algorithm === 'leaky-bucket') return 1 + (limit * maxDelay) / window + drained
  return (algorithm === 'sliding-log' ? 1 : 2) * limit * (Math.floor(ms / window) + 1)
}
