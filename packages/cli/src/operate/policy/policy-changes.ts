import { userInfo } from 'node:os'
import type { PolicyChange } from '@sluice/core/operator'

/** A change without the settings. */
export type ChangeHead = Omit<PolicyChange, 'before' | 'after'>

/**
 * The last change of a policy that is remembered.
 *
 * @param history the newest first
 */
export function lastChangeOf(
  name: string,
  history: readonly PolicyChange[],
): ChangeHead | undefined {
  const last = history.find(({ after }) => Object.hasOwn(after, name))
  if (last === undefined) return undefined
  const { before: _, after: __, ...head } = last
  return head
}

/** A container may have no name for the user that it runs as. */
export function userOfSystem(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
