import type { PolicyChange, PolicySettings } from '../../stores/documents/policy-document.ts'
import type { SharedDocuments } from '../../stores/documents/shared-documents.ts'
import type { ChangeOptions, PolicyDifference, PolicyState, SetOptions } from './policy-state.ts'

/**
 * Changes the settings of live policies (the option `live`): in this process at once, in all others
 * on the same store and `prefix` within two seconds. Methods reject with a SluiceError for a wrong
 * argument, and with a StoreError if the store does not confirm the change.
 */
export class PolicyControl {
  readonly #documents: SharedDocuments

  constructor(documents: SharedDocuments) {
    this.#documents = documents
  }

  /** All live policies of applications on the store, sorted by name. */
  async list(): Promise<readonly PolicyState[]> {
    return (await loadPolicyChanges()).listPolicies(this.#documents)
  }

  /**
   * Sets some settings of a policy. Settings without an end are merged with earlier ones.
   *
   * @param name the name of a policy that an application on the store has
   */
  async set(
    name: string,
    settings: PolicySettings,
    options: SetOptions = {},
  ): Promise<PolicyChange> {
    const given = asOfNow([settings, options])
    return (await loadPolicyChanges()).setPolicy(this.#documents, name, ...given)
  }

  /** Restores the options of the code, for one policy. */
  async unset(name: string, options: ChangeOptions = {}): Promise<PolicyChange> {
    const given = asOfNow([options])
    return (await loadPolicyChanges()).unsetPolicy(this.#documents, name, ...given)
  }

  /**
   * Sets the settings of all policies: policies that are not named get the options of their code
   * back.
   */
  async apply(
    policies: Readonly<Record<string, PolicySettings>>,
    options: ChangeOptions = {},
  ): Promise<PolicyChange> {
    const given = asOfNow([policies, options])
    return (await loadPolicyChanges()).applyPolicies(this.#documents, ...given)
  }

  /** Returns the differences that `apply` would make. */
  async diff(
    policies: Readonly<Record<string, PolicySettings>>,
  ): Promise<readonly PolicyDifference[]> {
    const given = asOfNow([policies])
    return (await loadPolicyChanges()).differences(this.#documents, ...given)
  }

  /** The last changes, up to 50, the newest first. */
  async history(): Promise<readonly PolicyChange[]> {
    return (await loadPolicyChanges()).historyOf(this.#documents)
  }

  /**
   * Restores the settings from before a change, and so undoes later changes too.
   *
   * @param number The number of the change. Default: the last one
   */
  async rollback(number?: number, options: ChangeOptions = {}): Promise<PolicyChange> {
    const given = asOfNow([options])
    return (await loadPolicyChanges()).rollBack(this.#documents, number, ...given)
  }
}

/** Copies arguments: a change is made in its turn, when the caller may use the same object for another one. */
function asOfNow<T extends [unknown, ...unknown[]]>(given: T): T {
  try {
    return structuredClone(given)
  } catch {
    // What can't be copied is no setting, which the checks say.
    return given
  }
}

/** Few processes need them. */
export const loadPolicyChanges = () => import('./policy-changes.ts')
