import type { Duration } from '../../options/duration.ts'
import type { PolicyChange, PolicySettings } from '../../stores/documents/policy-document.ts'
import type { SharedDocuments } from '../../stores/documents/shared-documents.ts'

/** A live policy, and what is in force. */
export interface PolicyState {
  /** Its name: `api`, `api/burst`, `api:POST /login`. */
  readonly name: string
  readonly algorithm: string
  /** ms; undefined: it counts what is in use at the same time. */
  readonly windowMs: number | undefined
  /** Units that are in force; undefined if that is a function of the request. */
  readonly limit: number | undefined
  /** Units that the code has; undefined if that is a function of the request. */
  readonly codeLimit: number | undefined
  /** The least and the most units that may be set; undefined: the application has set no bounds. */
  readonly bounds: { readonly min: number; readonly max: number } | undefined
  /** The share of the clients that it refuses, 0 … 1. */
  readonly enforced: number
  /** Why its settings are ignored, with all others; undefined: they are not. */
  readonly problem: string | undefined
  /** What is set in place of its options; undefined: nothing. */
  readonly settings: PolicySettings | undefined
  /** When some of that ends by itself, ms on the store's clock; undefined: it does not. */
  readonly until: number | undefined
}

/** What a new document would change of a policy; undefined: nothing is set. */
export interface PolicyDifference {
  readonly name: string
  readonly before: PolicySettings | undefined
  readonly after: PolicySettings | undefined
}

/** How settings are changed. */
export interface ChangeOptions {
  /** Who changes them, for the history. Default: `'application'` */
  readonly by?: string | undefined
  /** From where, for the history. Default: `'api'` */
  readonly from?: string | undefined
  /**
   * The number of the last change that the caller has seen: with another one since, nothing changes. Default: they
   * are changed whatever there is
   */
  readonly seen?: number | undefined
}

/** How settings are set. */
export interface SetOptions extends ChangeOptions {
  /** For how long: then those before hold again, by the store's clock. Default: until they are changed */
  readonly for?: Duration | undefined
}

/**
 * Changes the settings of live policies (the option `live`): in this process at once, in every other one on the same
 * store and `prefix` within two seconds. Every method rejects with a SluiceError if an argument is wrong, and with a
 * StoreError if the store does not confirm it.
 */
export class PolicyControl {
  private readonly documents: SharedDocuments

  constructor(documents: SharedDocuments) {
    this.documents = documents
  }

  /** All live policies that applications on the store have, in the order of their names. */
  async list(): Promise<readonly PolicyState[]> {
    return (await loadPolicyChanges()).listPolicies(this.documents)
  }

  /**
   * Sets some settings of a policy. Those without an end are joined with the ones before.
   *
   * @param name the name of a policy that an application on the store has
   */
  async set(
    name: string,
    settings: PolicySettings,
    options: SetOptions = {},
  ): Promise<PolicyChange> {
    return (await loadPolicyChanges()).setPolicy(this.documents, name, settings, options)
  }

  /** Lets the options of the code hold again, of one policy. */
  async unset(name: string, options: ChangeOptions = {}): Promise<PolicyChange> {
    return (await loadPolicyChanges()).unsetPolicy(this.documents, name, options)
  }

  /** Sets the settings of all policies: those that are not named have the options of their code again. */
  async apply(
    policies: Readonly<Record<string, PolicySettings>>,
    options: ChangeOptions = {},
  ): Promise<PolicyChange> {
    return (await loadPolicyChanges()).applyPolicies(this.documents, policies, options)
  }

  /** What `apply` would change. */
  async diff(
    policies: Readonly<Record<string, PolicySettings>>,
  ): Promise<readonly PolicyDifference[]> {
    return (await loadPolicyChanges()).differences(this.documents, policies)
  }

  /** The last changes, up to 50, the newest first. */
  async history(): Promise<readonly PolicyChange[]> {
    return (await loadPolicyChanges()).historyOf(this.documents)
  }

  /**
   * Brings back the settings from before a change, and so undoes the later ones too.
   *
   * @param number The number of the change. Default: the last one
   */
  async rollback(number?: number, options: ChangeOptions = {}): Promise<PolicyChange> {
    return (await loadPolicyChanges()).rollBack(this.documents, number, options)
  }
}

/** What few processes need. */
export const loadPolicyChanges = () => import('./policy-changes.ts')
