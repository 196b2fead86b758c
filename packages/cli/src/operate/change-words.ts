import { createInterface } from 'node:readline/promises'
import type { Io } from '@sluice/terminal/io'
import { UsageError } from '@sluice/terminal/usage-error'
import { duration, moment, number } from '@sluice/terminal/words'
import type { Change } from './change.ts'

/**
 * A change in words: `block 203.0.113.7 for 1 h`.
 *
 * @param name the name of the client or the network, printable
 */
export function inWords(change: Change, name: string): string {
  if (change.action === 'block') return `block ${name} for ${duration(change.durationMs)}`
  if (change.action === 'unlimit') return `end the own limit of ${name}`
  if (change.action !== 'limit') return `${change.action} ${name}`
  const { units, durationMs } = change
  const time = durationMs === undefined ? '' : ` for ${duration(durationMs)}`
  return `limit ${name} to ${number(units)}${time}`
}

/**
 * When a change ends by itself, as words that follow it; '' if it has no end.
 *
 * @param until as the store has it, ms on its clock; undefined: never
 */
export function untilText({ action }: Change, until: number | undefined): string {
  if (until !== undefined) return `, until ${moment(until)}`
  return action === 'limit' ? ', until it is ended' : ''
}

/** @throws UsageError if nobody can be asked, and nobody has said yes before */
export function checkAsking(
  { stdin }: Io,
  { yes, json }: { readonly yes?: boolean; readonly json?: boolean },
  action: string,
  isList = false,
): void {
  if (yes || (stdin.isTTY === true && !json && !isList)) return
  const why = isList ? 'standard input is the list' : 'there is no terminal to ask on'
  throw new UsageError(`${action} changes the store: add --yes, as ${why}`)
}

/** Asks in the terminal. @returns false, after a line that says so, unless the answer is yes */
export async function agrees({ stdin, stderr }: Io, question: string): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stderr })
  try {
    const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
    const answer = await Promise.race([lines.question(`${question} [y/N] `), closed])
    const isAgreed = /^y(es)?$/i.test(answer.trim())
    if (!isAgreed) stderr.write('nothing was changed\n')
    return isAgreed
  } finally {
    lines.close()
  }
}
