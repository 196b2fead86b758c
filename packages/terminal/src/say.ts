import { stderr } from 'node:process'
import { inspect } from 'node:util'
import { printableLines } from './printable.ts'

/** A message to the operator. @param stream default: standard error */
export function say(message: string, stream: NodeJS.WritableStream = stderr): void {
  stream.write(`${printableLines(message)}\n`)
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? String(thrown.message) : inspect(thrown)
}
