import { CODES, type Code, type SetupCode } from './codes.ts'

/** The end of a message: its code, and where it is explained. */
export function reference(code: Code): string {
  return `(${code}, docs/errors.md#${code.toLowerCase()})`
}

/** What to do about a store that can't work as it is set up, as the page says, without markup. */
export function setupAction(code: SetupCode): string {
  return CODES.setup[code].action.replaceAll('`', '')
}
