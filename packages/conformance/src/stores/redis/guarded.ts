import { type Ledger, type RedisClient, type RedisStoreOptions, redisStore } from '@sluice/core'
import type { Quota } from '../../../../core/src/algorithms/algorithm.ts'
import { ResilientStore } from '../../../../core/src/stores/resilient/resilience.ts'
import type { Stance } from '../../../../core/src/stores/resilient/resilient-ledger.ts'

const patient: Stance = {
  deadlineMs: 60_000,
  onStoreError: 'deny',
  refusalCache: false,
  settles: false,
  localShare: 1,
  localQuota: (_, quota) => quota,
}

/**
 * A ledger of one policy for each quota, as limiters have it: so that a test can give each policy a
 * key of its own. Waits for the store unless the stance says else.
 */
export function guarded(
  client: RedisClient,
  quotas: readonly Quota[],
  prefix: string,
  { stance = {}, ...options }: RedisStoreOptions & { stance?: Partial<Stance> } = {},
): Ledger<'async'> {
  const spaces = quotas.map(({ algorithm }, i) => ({ name: `p${i}`, algorithm }))
  const store = new ResilientStore(redisStore(client, options), { ...patient, ...stance })
  return store.open(spaces, prefix)
}
