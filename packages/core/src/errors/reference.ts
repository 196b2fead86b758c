import { ERRORS } from './address.generated.ts'
import type { Code } from './codes.ts'

/** The end of a message: its code, and where it is explained. */
export function reference(code: Code): string {
  return `(${code}, ${ERRORS}#${code.toLowerCase()})`
}
