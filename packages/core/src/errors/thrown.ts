import { inspect } from 'node:util'

/** What was thrown, as text. Anything can be thrown, even a value that cannot be converted. */
export function textOf(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {}
  try {
    return inspect(thrown, { depth: 0, breakLength: Infinity, customInspect: false })
  } catch {
    return `an ${typeof thrown} that has no text`
  }
}
