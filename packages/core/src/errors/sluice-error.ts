import type { SluiceErrorCode } from './codes.ts'
import { describe } from './describe.ts'
import { reference } from './reference.ts'

/** What a mistake consists of, in the one form that every Sluice error has. */
export type Mistake = {
  /** Stable identifier, `SLUICE_…`: safe to compare against, never reworded. */
  code: SluiceErrorCode
  /** The option or argument at fault, as the user wrote it: `policies[0].limit`. */
  option: string
  /** What would have been accepted. */
  expected: string
  /** What to do about it, in the imperative. */
  fix: string
} & (
  | {
      /** What was given instead. The error describes it and does not keep it: it may hold a secret. */
      received: unknown
    }
  | {
      /** What was found instead, in words without a secret, such as the message of a server. */
      said: string
    }
)

/** A mistake in how Sluice is used: a wrong option, an impossible combination, a bad argument. */
export class SluiceError extends Error {
  override readonly name = 'SluiceError'
  readonly code: SluiceErrorCode
  readonly option: string
  readonly expected: string
  /** What was given instead, described without its contents: errors end up in logs. */
  readonly received: string
  readonly fix: string

  constructor(mistake: Mistake) {
    const { code, option, expected, fix } = mistake
    const received = 'said' in mistake ? inOneLine(mistake.said) : describe(mistake.received)
    // A server's message may have a full stop of its own.
    const found = received.replace(/\.$/, '')
    super(`${option}: expected ${expected}, received ${found}. ${fix} ${reference(code)}`)
    this.code = code
    this.option = option
    this.expected = expected
    this.received = received
    this.fix = fix
  }
}

/** What a server says is rarely longer, and may name the cause at its end. Characters. */
const MAX_TEXT = 240

function inOneLine(text: string): string {
  const line = text.replace(/\s*\n\s*/g, ' ')
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT - 3)}...` : line
}
