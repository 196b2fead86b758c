import type { SluiceErrorCode } from './codes.ts'
import { describe } from './describe.ts'
import { isA } from './is-a.ts'
import { reference } from './reference.ts'

/** A mistake in how Sluice is used: a wrong option, an impossible combination, a bad argument. */
export class SluiceError extends Error {
  override readonly name = 'SluiceError'
  /** Stable identifier, `SLUICE_…`: safe to compare against, never reworded. */
  readonly code: SluiceErrorCode
  /** The option or argument at fault, as the user wrote it: `policies[0].limit`. */
  readonly option: string
  /** The values that would have been accepted. */
  readonly expected: string
  /** The value that was given, described without its contents: errors end up in logs. */
  readonly received: string
  /** How to fix it, in the imperative. */
  readonly fix: string

  /**
   * @param mistake.received the value that was given: the error describes it and does not keep it, since it
   *   may hold a secret
   * @param mistake.said in its place, what was found, in words without a secret, such as the message of a server
   * @param mistake.reason why it is a mistake, as a sentence. Default: what was expected, unless the fix says it, and received
   */
  constructor(
    mistake: {
      code: SluiceErrorCode
      option: string
      expected: string
      fix: string
      reason?: string
    } & ({ received: unknown } | { said: string }),
  ) {
    const { code, option, expected, fix } = mistake
    const received = 'said' in mistake ? inOneLine(mistake.said) : describe(mistake.received)
    // A server's message may have a full stop of its own.
    const found = received.replace(/\.$/, '')
    const facts = fix.includes(expected) ? 'Received' : `Expected ${expected}, received`
    super(`${option}: ${fix} ${mistake.reason ?? `${facts} ${found}.`} ${reference(code)}`)
    this.code = code
    this.option = option
    this.expected = expected
    this.received = received
    this.fix = fix
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a class that extends this one is asked as itself
    return isA(value, this, SluiceError, 'SluiceError')
  }
}

/** A server's message is rarely longer, and may name the cause at its end. Characters. */
const MAX_TEXT = 240

function inOneLine(text: string): string {
  const line = text.replace(/\s*\n\s*/g, ' ')
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT - 3)}...` : line
}
