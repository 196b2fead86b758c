import { inspect } from '#platform'
import type { SluiceErrorCode } from './codes.ts'
import { reference } from './reference.ts'

/** What a mistake consists of, in the one form that every Sluice error has. */
export interface Mistake {
  /** Stable identifier, `SLUICE_…`: safe to compare against, never reworded. */
  code: SluiceErrorCode
  /** The option or argument at fault, as the user wrote it: `policies[0].limit`. */
  option: string
  /** What would have been accepted. */
  expected: string
  /** What was given instead. */
  received: unknown
  /** What to do about it, in the imperative. */
  fix: string
}

/** A mistake in how Sluice is used: a wrong option, an impossible combination, a bad argument. */
export class SluiceError extends Error {
  override readonly name = 'SluiceError'
  readonly code: SluiceErrorCode
  readonly option: string
  readonly expected: string
  readonly received: unknown
  readonly fix: string

  constructor({ code, option, expected, received, fix }: Mistake) {
    super(
      `${option}: expected ${expected}, received ${describe(received)}. ${fix} ${reference(code)}`,
    )
    this.code = code
    this.option = option
    this.expected = expected
    this.received = received
    this.fix = fix
  }
}

/** What a server says is rarely longer, and may name the cause at its end. Characters. */
const MAX_TEXT = 240
/** Of any other value, characters. */
const MAX_VALUE = 80

/** A value with its type, in one line and cut short: error messages end up in logs. */
function describe(value: unknown): string {
  const most = typeof value === 'string' ? MAX_TEXT : MAX_VALUE
  const lines = inspect(value, most - 20)
  const text = lines.replace(/\s*\n\s*/g, ' ')
  const short = text.length > most ? `${text.slice(0, most - 3)}...` : text
  if (value === null || value === undefined || typeof value === 'function') return short
  const type = typeof value === 'object' ? value.constructor?.name : typeof value
  return type === undefined || short.startsWith(type) ? short : `${short} (${type})`
}
