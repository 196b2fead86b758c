import { createInterface } from 'node:readline/promises'
import { cidrText, parseDuration } from '@sluice/core/operator'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { printable, printableReport } from '@sluice/terminal/printable'
import { UsageError } from '@sluice/terminal/usage-error'
import { duration, listed, moment, number } from '@sluice/terminal/words'
import { apply, type Change, keyspacesFor } from './change.ts'
import { clientKey } from './client-key.ts'
import type { Connection } from './connection.ts'
import type { ChangeFlags, LimitFlags } from './flags.ts'
import { changeNetwork, networkOf, networksAround } from './networks.ts'
import { reportedReading, sayUnreadable } from './reading.ts'

/** `1h` as it was typed. @throws SluiceError */
export function blockFor(text: string): Change {
  return { action: 'block', durationMs: parseDuration('duration', text) }
}

/** `20000` and `30d` as they were typed. @throws UsageError and SluiceError */
export function limitTo(text: string | undefined, flags: Pick<LimitFlags, 'for' | 'end'>): Change {
  if (flags.end) {
    if (text === undefined && flags.for === undefined) return { action: 'unlimit' }
    throw new UsageError(
      '--end: the limit is the one of the policy again, so leave the units and --for out',
    )
  }
  if (text === undefined || !/^\d{1,13}$/.test(text))
    throw new UsageError(`expected the units of the limit, or --end, received '${text ?? ''}'`)
  const durationMs = flags.for === undefined ? undefined : parseDuration('--for', flags.for)
  return { action: 'limit', units: Number(text), durationMs }
}

/**
 * `sluice reset`, `block`, `unblock` and `limit`. Asks before it changes anything, unless `--yes`.
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
  const network = networkOf(text, flags.ipv6Prefix)
  const key = network === undefined ? clientKey(text, flags.ipv6Prefix) : cidrText(network)
  const mayAsk = io.stdin.isTTY === true && !flags.json
  if (!flags.yes && !mayAsk) {
    throw new UsageError(
      `${action} changes the store: add --yes, as there is no terminal to ask on`,
    )
  }
  const { prefix, policy } = flags
  const isOwnLimit = action === 'limit' || action === 'unlimit'
  if (isOwnLimit && network !== undefined) throw new UsageError('a limit is that of one client')
  if (network !== undefined) {
    if (policy !== undefined)
      throw new UsageError('a network is blocked in every policy: leave --policy out')
    const what = `${inWords(change, `the network ${key}`)} in every limiter (prefix ${prefix})`
    if (!flags.yes && !(await agrees(io, `${what}?`))) {
      io.stderr.write('nothing was changed\n')
      return EXIT.failed
    }
    const isChanged = await changeNetwork(store, change, network, prefix)
    const said = isChanged
      ? `done: ${what}${until(change)}`
      : `nothing to ${action}: the network ${key} is not blocked under the prefix ${prefix}`
    writeResult(
      io,
      flags,
      { key, action, changed: isChanged ? [{ prefix, network: key }] : [] },
      said,
    )
    return EXIT.ok
  }
  const reading = reportedReading(io.stderr)
  const found = await keyspacesFor(store, change, key, { prefix, policy }, reading)
  sayUnreadable(reading, io.stderr)
  const name = printable(key)
  if (found.length === 0) {
    const around = action === 'block' ? [] : await networksAround(store, prefix, key)
    const but = around.length === 0 ? '' : `, but it is in the blocked ${around[0]?.network}`
    writeResult(io, flags, { key, action, changed: [] }, nothingTo(change, name, prefix) + but)
    return action === 'block' || action === 'limit' ? EXIT.failed : EXIT.ok
  }
  const policies = [...new Set(found.map(({ policy }) => printable(policy)))]
  if (action === 'limit' && policies.length > 1)
    throw new UsageError(`--policy: expected one of ${listed(policies)}, whose limits differ`)
  const inShard = found.find((each) => each.key.startsWith('{'))
  if (inShard !== undefined && !key.startsWith('{')) {
    const shown = printable(inShard.key)
    io.stderr.write(
      `keys are in shards here, such as ${shown}: if this client's are, write its shard\n`,
    )
  }
  const what = `${inWords(change, name)} in ${listed(policies)} (${found.length} keys, prefix ${prefix})`
  if (!flags.yes && !(await agrees(io, `${what}?`))) {
    io.stderr.write('nothing was changed\n')
    return EXIT.failed
  }
  await apply(store, change, key, found)
  const changed = found.map(({ prefix, keyspace }) => ({ prefix, keyspace: keyspace.name }))
  writeResult(io, flags, { key, action, changed }, `done: ${what}${until(change)}`)
  return EXIT.ok
}

function inWords(change: Change, name: string): string {
  if (change.action === 'block') return `block ${name} for ${duration(change.durationMs)}`
  if (change.action === 'unlimit') return `end the own limit of ${name}`
  if (change.action !== 'limit') return `${change.action} ${name}`
  const { units, durationMs } = change
  const time = durationMs === undefined ? '' : ` for ${duration(durationMs)}`
  return `limit ${name} to ${number(units)}${time}`
}

function until(change: Change): string {
  if (change.action === 'limit' && change.durationMs === undefined) return ', until it is ended'
  const isForATime = change.action === 'block' || change.action === 'limit'
  return isForATime ? `, until ${moment(Date.now() + (change.durationMs as number))}` : ''
}

function nothingTo({ action }: Change, name: string, prefix: string): string {
  const none = `no key under the prefix ${prefix}`
  if (action === 'unlimit')
    return `nothing to end: ${name} has no limit of its own under the prefix ${prefix}`
  if (action === 'block' || action === 'limit') {
    return `nothing to ${action} ${name} in: ${none}, so no policy is known. Is the prefix right?`
  }
  return action === 'reset'
    ? `nothing to reset: ${name} has ${none}`
    : `nothing to unblock: ${name} is neither blocked nor banned under the prefix ${prefix}`
}

function writeResult({ stdout }: Io, { json }: ChangeFlags, result: object, words: string): void {
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
