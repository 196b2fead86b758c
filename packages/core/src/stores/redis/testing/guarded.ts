import type { CompiledLimit } from '../../../algorithms/algorithm.ts'
import { type RedisClient, type RedisStoreOptions, redisStore } from '../../../index.ts'
import { type LedgerVerbs, withVerbs } from '../../../testing/ledger-verbs.ts'
import type { FailureMode } from '../../resilient/guarded-ledger.ts'
import { resilientStore } from '../../resilient/resilient-store.ts'

const patient: FailureMode = {
  deadlineMs: 60_000,
  onStoreError: 'deny',
  refusalCache: false,
  settles: false,
  localShare: 1,
}

/**
 * A ledger of one policy for each quota, as limiters have it: so that a test can give each policy a
 * key of its own. Waits for the store unless the stance says else.
 */
export function guarded(
  client: RedisClient,
  limits: readonly CompiledLimit[],
  prefix: string,
  { failureMode = {}, ...options }: RedisStoreOptions & { failureMode?: Partial<FailureMode> } = {},
): LedgerVerbs<'async'> {
  const keyspaces = limits.map(({ algorithm }, i) => ({ name: `p${i}`, algorithm }))
  const store = resilientStore(redisStore(client, options), { ...patient, ...failureMode })
  return withVerbs(store.open(keyspaces, prefix))
}
