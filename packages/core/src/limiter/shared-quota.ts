import { SluiceError } from '../errors/sluice-error.ts'
import { warnOnce } from '../errors/warning.ts'
import { termsOf } from '../stores/inspection/keyspace-text.ts'
import type { Store } from '../stores/store.ts'
import type { Policy } from './policy.ts'

/** Quotas that are registered for each store: more than an application has. */
const MAX_REGISTERED = 1000

/** A quota that open limiters count in. */
interface RegisteredQuota {
  /** The limit of all of them, and the options of its algorithm. */
  readonly terms: string
  limiters: number
  /** How many of them may share it by accident. */
  unaware: number
}

const registered = new WeakMap<Store, Map<string, RegisteredQuota>>()

/**
 * Registers the quotas of a limiter on its store.
 *
 * @param isAware whether it is meant to share them. Otherwise another limiter that is not, on the same quota, is a
 *   warning: with memory stores of their own, each would have its own
 * @returns takes them out again: call it when the limiter closes
 * @throws SluiceError if another limiter counts in one of them with another limit
 */
export function registerQuotas(
  store: Store,
  prefix: string,
  policies: readonly Policy[],
  isAware: boolean,
): () => void {
  const quotas = registered.get(store) ?? new Map<string, RegisteredQuota>()
  registered.set(store, quotas)
  const own = policies.map((policy) => {
    const keyspace = policy.keyspace()
    const id = `${prefix}:${keyspace.name}`
    const terms = termsOf(keyspace)
    const quota = quotas.get(id) ?? { terms, limiters: 0, unaware: 0 }
    if (quota.terms !== terms) throw differing(policy, prefix, quota.terms, terms)
    return { id, quota, policy }
  })
  if (quotas.size > MAX_REGISTERED) quotas.clear()
  for (const { id, quota, policy } of own) {
    quotas.set(id, quota)
    quota.limiters += 1
    if (isAware) continue
    if (quota.unaware > 0) warn(policy.name)
    quota.unaware += 1
  }
  return () => {
    for (const { id, quota } of own.splice(0)) {
      quota.limiters -= 1
      if (!isAware) quota.unaware -= 1
      if (quota.limiters === 0 && quotas.get(id) === quota) quotas.delete(id)
    }
  }
}

/** @param others the terms of the other limiter */
function differing(policy: Policy, prefix: string, others: string, terms: string): SluiceError {
  return new SluiceError({
    code: 'SLUICE_OPTION_CONFLICT',
    option: policy.at(policy.limitOption),
    expected: `${others}, as in the other limiter on this store`,
    said: terms,
    fix:
      'If the limit differs by client, make one limiter, outside the handler, with a function: limit: (request) => …. ' +
      "Two limiters that count different things each need a prefix, such as prefix: 'login': these " +
      `share one count, that of prefix '${prefix}' and policy '${policy.name}'.`,
  })
}

function warn(policy: string): void {
  warnOnce(
    'SLUICE_SHARED_QUOTA',
    `Two limiters on one store have the same options (policy '${policy}'), so they share one quota. ` +
      'Make one limiter, outside the handler, and use it for every request; if the limit differs by client, give it a ' +
      "function: limit: (request) => …. Limiters that count different things each need a prefix, such as prefix: 'contact'; " +
      'if two are meant to share, give both the same.',
  )
}
