import type { Duration } from '../../options/duration.ts'
import type { PolicyChange, PolicySettings } from '../../stores/documents/policy-document.ts'

/** A live policy, and its settings in force. */
export interface PolicyState {
  /** Its name: `api`, `api/burst`, `api:POST /login`. */
  readonly name: string
  readonly algorithm: string
  /** ms; undefined: it counts requests in progress. */
  readonly windowMs: number | undefined
  /** Units that are in force; undefined if that is a function of the request. */
  readonly limit: number | undefined
  /** Units that the code has; undefined if that is a function of the request. */
  readonly codeLimit: number | undefined
  /** The least and the most units that may be set; undefined: the application has set no bounds. */
  readonly bounds: { readonly min: number; readonly max: number } | undefined
  /** The share of the clients that it refuses, 0 … 1. */
  readonly enforced: number
  /** Why all settings are ignored; undefined if they are not. */
  readonly problem: string | undefined
  /** The settings that replace its options; undefined: none. */
  readonly settings: PolicySettings | undefined
  /** When some of the settings end, ms on the store's clock; undefined: they do not. */
  readonly until: number | undefined
}

/** What a new document would change in a policy; undefined: nothing is set. */
export interface PolicyDifference {
  readonly name: string
  readonly before: PolicySettings | undefined
  readonly after: PolicySettings | undefined
}

/** How settings are changed. */
export interface ChangeOptions {
  /** The author, for the history. Default: `'application'` */
  readonly by?: string | undefined
  /** From where, for the history. Default: `'api'` */
  readonly from?: string | undefined
  /**
   * The number of the last change that the caller has seen: if there is a newer one, nothing
   * changes. Default: not checked
   */
  readonly seen?: number | undefined
}

/** How settings are set. */
export interface SetOptions extends ChangeOptions {
  /**
   * For how long, on the store's clock; then the earlier settings apply again. Default: until they
   * are changed
   */
  readonly for?: Duration | undefined
}

/**
 * Changes the settings of live policies (the option `live`): in this process at once, in all others
 * on the same store and `prefix` within two seconds. Methods reject with a SluiceError for a wrong
 * argument, and with a StoreError if the store does not confirm the change.
 */
export interface PolicyControl {
  /** All live policies of applications on the store, sorted by name. */
  list(): Promise<readonly PolicyState[]>
  /**
   * Sets some settings of a policy. Settings without an end are merged with earlier ones.
   *
   * @param name the name of a policy that an application on the store has
   */
  set(name: string, settings: PolicySettings, options?: SetOptions): Promise<PolicyChange>
  /** Restores the options of the code, for one policy. */
  unset(name: string, options?: ChangeOptions): Promise<PolicyChange>
  /**
   * Sets the settings of all policies: policies that are not named get the options of their code
   * back.
   */
  apply(
    policies: Readonly<Record<string, PolicySettings>>,
    options?: ChangeOptions,
  ): Promise<PolicyChange>
  /** Returns the differences that `apply` would make. */
  diff(policies: Readonly<Record<string, PolicySettings>>): Promise<readonly PolicyDifference[]>
  /** The last changes, up to 50, the newest first. */
  history(): Promise<readonly PolicyChange[]>
  /**
   * Restores the settings from before a change, and so undoes later changes too.
   *
   * @param number The number of the change. Default: the last one
   */
  rollback(number?: number, options?: ChangeOptions): Promise<PolicyChange>
}
