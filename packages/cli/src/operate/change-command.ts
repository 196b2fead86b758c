import { createInterface } from 'node:readline/promises'
import { parseDuration } from '@sluice/core/store'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { printable, printableReport } from '@sluice/terminal/printable'
import { UsageError } from '@sluice/terminal/usage-error'
import { duration, listed, moment } from '@sluice/terminal/words'
import { apply, type Change, placesFor } from './change.ts'
import { clientKey } from './client-key.ts'
import type { Connection } from './connection.ts'
import type { ChangeFlags } from './flags.ts'
import { reportedReading, sayUnreadable } from './reading.ts'

/** `1h` as it was typed. @throws SluiceError */
export function blockFor(text: string): Change {
  return { action: 'block', durationMs: parseDuration('duration', text) }
}

/**
 * `sluice reset`, `block` and `unblock`. Asks before it changes anything, unless `--yes`.
 *
 * @throws UsageError without a terminal to ask on, and without `--yes`
 */
export async function changeCommand(
  change: Change,
  text: string,
  flags: ChangeFlags,
  { store }: Connection,
  io: Io,
): Promise<ExitCode> {
  const { action } = change
  const key = clientKey(text, flags.ipv6Prefix)
  const mayAsk = io.stdin.isTTY === true && !flags.json
  if (!flags.yes && !mayAsk) {
    throw new UsageError(
      `${action} changes the store: add --yes, as there is no terminal to ask on`,
    )
  }
  const { prefix, policy } = flags
  const reading = reportedReading(io.stderr)
  const places = await placesFor(store, change, key, { prefix, policy }, reading)
  sayUnreadable(reading, io.stderr)
  const name = printable(key)
  if (places.length === 0) {
    report(io, flags, { key, action, changed: [] }, nothingTo(change, name, prefix))
    return action === 'block' ? EXIT.failed : EXIT.ok
  }
  const policies = [...new Set(places.map((place) => printable(place.policy)))]
  const what = `${inWords(change, name)} in ${listed(policies)} (${places.length} keys, prefix ${prefix})`
  if (!flags.yes && !(await agrees(io, `${what}?`))) {
    io.stderr.write('nothing was changed\n')
    return EXIT.failed
  }
  await apply(store, change, key, places)
  const changed = places.map(({ prefix, keyspace }) => ({ prefix, keyspace: keyspace.name }))
  report(io, flags, { key, action, changed }, `done: ${what}${until(change)}`)
  return EXIT.ok
}

function inWords(change: Change, name: string): string {
  return change.action === 'block'
    ? `block ${name} for ${duration(change.durationMs)}`
    : `${change.action} ${name}`
}

function until(change: Change): string {
  return change.action === 'block' ? `, until ${moment(Date.now() + change.durationMs)}` : ''
}

function nothingTo({ action }: Change, name: string, prefix: string): string {
  const none = `no key under the prefix ${prefix}`
  if (action === 'block') {
    return `nothing to block ${name} in: ${none}, so no policy is known. Is the prefix right?`
  }
  return action === 'reset'
    ? `nothing to reset: ${name} has ${none}`
    : `nothing to unblock: ${name} is neither blocked nor banned under the prefix ${prefix}`
}

function report({ stdout }: Io, { json }: ChangeFlags, result: object, words: string): void {
  stdout.write(json ? `${JSON.stringify(printableReport(result), null, 2)}\n` : `${words}\n`)
}

async function agrees({ stdin, stderr }: Io, question: string): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stderr })
  try {
    const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
    const answer = await Promise.race([lines.question(`${question} [y/N] `), closed])
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
