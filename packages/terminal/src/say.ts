import { stderr } from 'node:process'
import { inspect } from 'node:util'
import { printableLines } from './printable.ts'

/** A message to the operator, on standard error. */
export function say(message: string): void {
  stderr.write(`${printableLines(message)}\n`)
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? String(thrown.message) : inspect(thrown)
}
