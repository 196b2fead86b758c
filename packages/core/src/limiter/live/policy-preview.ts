import {
  POLICIES,
  type PolicySettings,
  readOrNothing,
  settingsAt,
  withLayer,
} from '../../stores/documents/policy-document.ts'
import { sharedDocumentsOf } from '../../stores/documents/shared-documents.ts'
import { fullOf } from '../../stores/rules/decide-all.ts'
import type { InspectableStore, InspectOptions, StoreEntry } from '../../stores/store.ts'
import type { Policy } from '../policy.ts'
import { checkSettings, keyspacesOfPolicies, knownPolicies, knownPolicy } from './known-policies.ts'
import { refuses } from './policy-clients.ts'
import { withSettings } from './with-settings.ts'

/** The effect of settings on the clients that are counted now. */
export interface PolicyPreview {
  readonly name: string
  /** Units that would be in force; undefined: a function of the request. */
  readonly limit: number | undefined
  /** The share of the clients that it would refuse, 0 … 1. */
  readonly enforced: number
  /** Clients that have used something of their quota. */
  readonly clients: number
  /** Clients that have nothing left now. */
  readonly exhausted: number
  /** Clients that would have nothing left. */
  readonly over: number
  /** Clients that would have nothing left, and that the policy would refuse: not those outside of the share. */
  readonly refused: number
  /**
   * Clients that can't be told: blocked ones, those whose key the store has as a digest and that may be in the share
   * or not, and those whose limit is a function of the request.
   */
  readonly unknown: number
  /** Clients that settings do not change: they have a limit of their own. */
  readonly own: number
}

/**
 * Counts what settings would do, from the counts in the store, and changes nothing.
 *
 * @param name the name of a policy that an application on the store has
 * @param settings in addition to those that are in force
 * @throws SluiceError if a setting is wrong
 */
export async function previewPolicy(
  store: InspectableStore,
  prefix: string,
  name: string,
  settings: PolicySettings,
  onProgress?: InspectOptions['onProgress'],
): Promise<PolicyPreview> {
  const documents = sharedDocumentsOf(store, prefix)
  const known = await knownPolicies(documents)
  const code = knownPolicy(known, name)
  const { text, at } = await documents.read(POLICIES)
  const layers = readOrNothing(text).policies[name] ?? []
  const set = checkSettings(known, name, settings)
  const all = settingsAt(withLayer(layers, { set }, at), at)
  const policy = withSettings(code, all)
  const counts = { clients: 0, exhausted: 0, over: 0, refused: 0, unknown: 0, own: 0 }
  const kept = (await keyspacesOfPolicies(documents)).get(name) ?? []
  const keyspaces = new Set(kept.map((each) => `${each.prefix} ${each.name}`))
  for await (const entry of store.inspect({ prefix, policy: code.name, onProgress }))
    if (keyspaces.has(`${entry.prefix} ${entry.keyspace.name}`)) count(counts, policy, entry)
  const { limit, enforced } = policy
  return { name, limit, enforced, ...counts }
}

function count(
  counts: { -readonly [each in keyof Omit<PolicyPreview, 'name' | 'limit' | 'enforced'>]: number },
  policy: Policy,
  entry: StoreEntry,
): void {
  const { used, remaining, override, granted, at } = entry
  if (used === 0) return
  counts.clients += 1
  if (remaining === 0) counts.exhausted += 1
  if (override !== undefined) counts.own += 1
  else if (used === undefined || policy.limit === undefined) counts.unknown += 1
  else if (used >= fullOf(policy.anyLimit(), at) + granted) {
    counts.over += 1
    const isRefused = refuses(policy, entry)
    if (isRefused) counts.refused += 1
    else if (isRefused === undefined) counts.unknown += 1
  }
}
