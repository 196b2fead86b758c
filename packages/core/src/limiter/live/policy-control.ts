import type { PolicyChange, PolicySettings } from '../../stores/documents/policy-document.ts'
import type { SharedDocuments } from '../../stores/documents/shared-documents.ts'
import type { ChangeOptions, PolicyDifference, PolicyState, SetOptions } from './policy-state.ts'

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

type Method = keyof PolicyControl

const METHODS = ['list', 'set', 'unset', 'apply', 'diff', 'history', 'rollback'] as const

/** Few processes need the code for it, so the first call loads it. */
export function policyControl(documents: SharedDocuments): PolicyControl {
  const call = async (method: Method, given: readonly unknown[]) => {
    const { PolicyChanges } = await loadPolicyChanges()
    const changes: Record<Method, (...given: never[]) => unknown> = new PolicyChanges(documents)
    return changes[method](...(given as never[]))
  }
  const methods = METHODS.map((method) => {
    return [method, (...given: unknown[]) => call(method, asOfNow(given))]
  })
  return Object.fromEntries(methods)
}

/** Copies arguments: a change is made in its turn, when the caller may use the same object for another one. */
function asOfNow(given: readonly unknown[]): readonly unknown[] {
  try {
    return structuredClone(given)
  } catch {
    // What can't be copied is no setting, which the checks say.
    return given
  }
}

export const loadPolicyChanges = () => import('./policy-changes.ts')
