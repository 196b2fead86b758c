import type { StoreEntry } from '@sluice/core'
import { parseDuration } from '@sluice/core/operator'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { printable } from '@sluice/terminal/printable'
import { UsageError } from '@sluice/terminal/usage-error'
import { count, listed } from '@sluice/terminal/words'
import { apply, type Change, keyspacesFor } from './change.ts'
import { agrees, checkAsking, inWords, untilText, writeResult } from './change-words.ts'
import { clientKey } from './client-key.ts'
import { nobodyCounted } from './client-stand.ts'
import type { Connection } from './connection.ts'
import type { ChangeFlags, LimitFlags } from './flags.ts'
import { FROM_STDIN, networkCommand, readNetworks } from './network-command.ts'
import { networkOf, networksAround } from './networks.ts'
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
  const isList = text === FROM_STDIN
  checkAsking(io, flags, action, isList)
  const network = isList ? undefined : networkOf(text, flags.ipv6Prefix)
  if (network !== undefined || isList) {
    const networks = network === undefined ? await readNetworks(io.stdin) : [network]
    return networkCommand(change, networks, flags, store, io)
  }
  const { prefix, policy } = flags
  const key = clientKey(text, flags.ipv6Prefix)
  const reading = reportedReading(io.stderr)
  const { keyspaces, mayBeInShard } = await keyspacesFor(
    store,
    change,
    key,
    { prefix, policy },
    reading,
  )
  sayUnreadable(reading, io.stderr)
  const name = printable(key)
  if (keyspaces.length === 0) {
    const around = action === 'block' ? [] : await networksAround(store, prefix, key)
    const but = around.length === 0 ? '' : `, but it is in the blocked ${around[0]?.network}`
    writeResult(io, flags, { key, action, changed: [] }, nothingTo(change, name, flags) + but)
    return EXIT.failed
  }
  const policies = [...new Set(keyspaces.map(({ policy }) => printable(policy)))]
  if (action === 'limit' && policies.length > 1)
    throw new UsageError(`--policy: expected one of ${listed(policies)}, whose limits differ`)
  if (mayBeInShard) {
    const example = printable(`{shard}${key}`)
    io.stderr.write(
      `keys are in shards here: if this client's are, write its shard, as top shows it: '${example}'\n`,
    )
  }
  const what = `${inWords(change, name)} in ${listed(policies)} (${count(keyspaces.length, 'key')}, prefix ${prefix})`
  if (!flags.yes && !(await agrees(io, `${what}?`))) return EXIT.failed
  const { until, entries } = await apply(store, change, key, keyspaces, prefix)
  const changed = keyspaces.map(({ prefix, keyspace }) => ({ prefix, keyspace: keyspace.name }))
  const isOwnLimit = action === 'limit' || action === 'unlimit'
  const usage = isOwnLimit ? usageOf(entries) : undefined
  const result = { key, action, changed, until, ...(usage && { usage }) }
  writeResult(io, flags, result, `done: ${what}${untilText(change, until)}`)
  return EXIT.ok
}

/** How each policy of a client stands, in the words of `usage()` of an adapter. */
function usageOf(entries: readonly StoreEntry[]) {
  const quotas = entries.filter(({ keyspace }) => keyspace.algorithm.name !== 'ban')
  return quotas.map(({ at, limit, policy, remaining, resetMs, used, windowMs }) => {
    const resetsAt = resetMs === undefined ? undefined : new Date(at + resetMs).toISOString()
    return { policy, limit, used, remaining, resetsAt, windowMs: windowMs || undefined }
  })
}

function nothingTo({ action }: Change, name: string, { prefix, policy }: ChangeFlags): string {
  if (action === 'unlimit')
    return `nothing to end: ${name} has no limit of its own under the prefix ${prefix}`
  if (action === 'block' || action === 'limit')
    return `nothing to ${action} ${name} in: ${nobodyCounted({ prefix, policy })}`
  return action === 'reset'
    ? `nothing to reset: ${name} has no key under the prefix ${prefix}`
    : `nothing to unblock: ${name} is neither blocked nor banned under the prefix ${prefix}`
}
