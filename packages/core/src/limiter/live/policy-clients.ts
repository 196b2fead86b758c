import { POLICIES, readOrNothing, settingsAt } from '../../stores/documents/policy-document.ts'
import type { SharedDocuments } from '../../stores/documents/shared-documents.ts'
import type { StoreEntry } from '../../stores/store.ts'
import { isEnforced } from '../enforcement.ts'
import type { Policy } from '../policy.ts'
import { keyspacesOfPolicies, knownPolicies } from './known-policies.ts'
import { withSettings } from './with-settings.ts'

/** The clients of a live policy that are not blocked, by its settings in force and the counts of the store. */
export interface PolicyClients {
  /** Clients that have used something of their quota. */
  readonly counted: number
  /** Clients that have nothing left: their next request is refused. */
  readonly refused: number
  /** Clients that have nothing left, and that the policy does not refuse. */
  readonly wouldRefuse: number
  /**
   * Clients of which that can't be told: the limit is a function of the request, or the store has only the digest of a
   * key, which does not say whether `enforce` chooses it.
   */
  readonly unknown: number
  /** Clients that have a limit of their own, or top-ups. */
  readonly own: number
}

/** Counts the clients of all live policies from the entries of a store that somebody reads. */
export class PolicyClientCounter {
  readonly #counts: ReadonlyMap<string, Counts>
  /** The counters, by the keyspaces of the policies. */
  readonly #keyspaces: ReadonlyMap<string, Counts>

  private constructor(counts: ReadonlyMap<string, Counts>, keyspaces: ReadonlyMap<string, Counts>) {
    this.#counts = counts
    this.#keyspaces = keyspaces
  }

  /** Counts by the settings in force now. */
  static async of(documents: SharedDocuments): Promise<PolicyClientCounter> {
    const { text, at } = await documents.read(POLICIES)
    const { policies } = readOrNothing(text)
    const known = await knownPolicies(documents)
    const counts = new Map(
      [...known].map(([name, code]) => [name, new Counts(inForce(code, policies[name], at))]),
    )
    const keyspaces = new Map<string, Counts>()
    for (const [name, kept] of await keyspacesOfPolicies(documents)) {
      const own = counts.get(name)
      if (own !== undefined)
        for (const each of kept) keyspaces.set(idOf(each.prefix, each.name), own)
    }
    return new PolicyClientCounter(counts, keyspaces)
  }

  add(entry: StoreEntry): void {
    this.#keyspaces.get(idOf(entry.prefix, entry.keyspace.name))?.add(entry)
  }

  /** The counts so far, by the names of the policies. */
  get clients(): ReadonlyMap<string, PolicyClients> {
    return this.#counts
  }
}

class Counts implements PolicyClients {
  counted = 0
  refused = 0
  wouldRefuse = 0
  unknown = 0
  own = 0
  /** The policy with the settings that are in force. */
  readonly #policy: Policy

  constructor(policy: Policy) {
    this.#policy = policy
  }

  add(entry: StoreEntry): void {
    const { used, remaining, override, granted, blockedMs } = entry
    if (override !== undefined || granted > 0) this.own += 1
    if (used === 0 || blockedMs > 0) return
    this.counted += 1
    if (remaining !== undefined && remaining > 0) return
    const isRefused = remaining === undefined ? undefined : refuses(this.#policy, entry)
    if (isRefused === undefined) this.unknown += 1
    else if (isRefused) this.refused += 1
    else this.wouldRefuse += 1
  }
}

/**
 * Whether a policy refuses a client that has nothing left. Undefined: the store has only the digest of its key, which
 * does not say whether `enforce` chooses it.
 */
export function refuses(
  policy: Policy,
  { key, isDigest }: Pick<StoreEntry, 'key' | 'isDigest'>,
): boolean | undefined {
  const isShare = policy.enforced > 0 && policy.enforced < 1
  return isDigest && isShare ? undefined : isEnforced(policy, key)
}

/** Settings that every process ignores are ignored here too. */
function inForce(code: Policy, layers: Parameters<typeof settingsAt>[0], at: number): Policy {
  try {
    return withSettings(code, settingsAt(layers, at))
  } catch {
    return code
  }
}

function idOf(prefix: string, keyspace: string): string {
  return `${prefix} ${keyspace}`
}
