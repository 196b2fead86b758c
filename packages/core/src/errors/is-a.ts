/** What every error of Sluice says of itself. */
interface Named {
  readonly name?: unknown
  readonly code?: unknown
}

/**
 * Decides `instanceof` for an error class by what an error says of itself: each module format in a process, and each
 * installed version, has a class of its own.
 *
 * @param asked the class on the right side: a class that extends `own` is asked as any other
 * @param own the class with this rule, whose errors have `name`
 */
export function isA(value: unknown, asked: unknown, own: unknown, name: string): boolean {
  if (asked !== own) return Function.prototype[Symbol.hasInstance].call(asked, value)
  if (!(value instanceof Error)) return false
  const { name: its, code } = value as Named
  return its === name && typeof code === 'string' && code.startsWith('SLUICE_')
}
