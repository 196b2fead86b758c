import type { SharedDocuments } from '../../stores/documents/shared-documents.ts'
import type { PolicyControl } from './policy-state.ts'

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
