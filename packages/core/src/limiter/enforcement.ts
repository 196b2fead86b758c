import { type CompiledLimit, formOf } from '../algorithms/algorithm.ts'
import { fractionOf } from '../key/fraction.ts'
import { shardLength } from '../key/notation.ts'
import { termsOf } from '../stores/inspection/keyspace-text.ts'
import type { Policy } from './policy.ts'

/**
 * Whether a policy may refuse requests of this client: one function for requests, previews and counts.
 * @param key with its shard or without, which makes no difference
 */
export function isEnforced({ enforced, code }: Policy, key: string): boolean {
  if (enforced === 0 || enforced === 1) return enforced === 1
  return fractionOf(`${choiceOf(code)}\n${key.slice(shardLength(key))}`) < enforced
}

/** The form of a policy's limit that holds for a client. */
export function limitOfClient(policy: Policy, key: string, limit: CompiledLimit): CompiledLimit {
  return formOf(limit, isEnforced(policy, key))
}

/** What chooses its share of the clients: without a name, two limiters have the limit and the window to tell them apart. */
function choiceOf(policy: Policy): string {
  const { id, name } = policy
  if (id !== '' || name !== 'default') return id || name
  const keyspace = policy.keyspace()
  return `${keyspace.name} ${termsOf(keyspace)}`
}
