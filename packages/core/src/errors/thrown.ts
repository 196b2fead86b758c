import { inspect } from '#platform'

/** The thrown value as text. Anything can be thrown, even a value that cannot be converted. */
export function textOf(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {}
  try {
    return inspect(thrown)
  } catch {
    return `an ${typeof thrown} that has no text`
  }
}

/** The message of a thrown error; where it has none, as one for several addresses, its code. */
export function messageOf(thrown: unknown): string {
  const { message, code } = Object(thrown) as { message?: unknown; code?: unknown }
  return textOf(message || code || thrown)
}

/** The code of a thrown error, else its name. */
export function typeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'Error'
  const { code } = thrown as { code?: unknown }
  return typeof code === 'string' && code !== '' ? code : thrown.name
}
