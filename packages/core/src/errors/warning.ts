import { emitWarning } from '#platform'
import type { WarningCode } from './codes.ts'
import { reference } from './reference.ts'

const given = new Set<WarningCode>()

/** Warns once in a process, see {@link warn}. */
export function warnOnce(code: WarningCode, message: string): void {
  if (given.has(code)) return
  given.add(code)
  warn(code, message)
}

/**
 * Warns the application's operator that something is not limited as it was
 * meant to be.
 *
 * @param message what happens and how to fix it
 */
export function warn(code: WarningCode, message: string): void {
  emitWarning(`${message} ${reference(code)}`, code)
}
