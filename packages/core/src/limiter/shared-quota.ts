import { warnOnce } from '../errors/warning.ts'
import type { Store } from '../stores/store.ts'

/** Quotas that are noted for each store: more than an application has. */
const MAX_NOTED = 1000

/** How many open limiters count in each quota, for each store. */
const noted = new WeakMap<Store, Map<string, number>>()
let hasWarned = false

/**
 * Notes the quotas of a limiter whose options name no `prefix`, and warns if another such limiter counts
 * in one of them: with memory stores of their own, each would have its own.
 *
 * @param quotas the namespace and the keyspace of each policy
 * @param names the names of these policies
 * @returns call it when the limiter closes
 */
export function noteQuotas(
  store: Store,
  quotas: readonly string[],
  names: readonly string[],
): () => void {
  if (hasWarned) return () => {}
  const counts = noted.get(store) ?? new Map<string, number>()
  noted.set(store, counts)
  const shared = names.find((_, i) => counts.has(quotas[i] as string))
  if (shared !== undefined) warn(shared)
  if (counts.size > MAX_NOTED) counts.clear()
  for (const quota of quotas) counts.set(quota, (counts.get(quota) ?? 0) + 1)
  return () => {
    for (const quota of quotas) {
      const others = (counts.get(quota) ?? 0) - 1
      if (others > 0) counts.set(quota, others)
      else counts.delete(quota)
    }
  }
}

function warn(policy: string): void {
  hasWarned = true
  warnOnce(
    'SLUICE_SHARED_QUOTA',
    `Two limiters on one store have the same options (policy '${policy}'), so they share one quota: a ` +
      'request to either uses up both. Without a store each would count separately. Give each a prefix of ' +
      "its own, such as prefix: 'contact', or, if they are meant to share, give both the same prefix.",
  )
}
