import { emitWarning } from '#platform'
import type { WarningCode } from './codes.ts'
import { reference } from './reference.ts'

const given = new Set<string>()

/**
 * Warns once in a process, see {@link warn}.
 *
 * @param of its subject, if it is given once for each: there must be few of them
 */
export function warnOnce(code: WarningCode, message: string, of: string = code): void {
  if (given.has(of)) return
  given.add(of)
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
