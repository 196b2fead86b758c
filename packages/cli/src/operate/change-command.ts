import type { StoreEntry } from '@sluice/core'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { printableReport } from '@sluice/terminal/printable'
import { UsageError } from '@sluice/terminal/usage-error'
import type { Change, Plan } from './change.ts'
import { agrees, checkAsking, untilText } from './change-words.ts'
import { clientKey } from './client-key.ts'
import { clientPlan } from './client-plan.ts'
import type { Connection } from './connection.ts'
import type { ChangeFlags } from './flags.ts'
import { FROM_STDIN, networkPlan, readNetworks } from './network-plan.ts'
import { networkOf } from './networks.ts'
import { reportedReading, sayUnreadable } from './reading.ts'

/**
 * `sluice reset`, `block`, `unblock` and `limit`, of a client or of networks. Asks before it changes anything, unless
 * `--yes`.
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
  checkAsking(io, flags, action, text === FROM_STDIN)
  const { key, places, what, nothing, note, make } = await planOf(change, text, flags, store, io)
  const write = (result: object, words: string) => {
    const report = { key, action, changed: places, ...result }
    io.stdout.write(`${flags.json ? JSON.stringify(printableReport(report), null, 2) : words}\n`)
  }
  if (note !== undefined) io.stderr.write(`${note}\n`)
  if (places.length === 0) {
    write({}, nothing)
    return EXIT.failed
  }
  if (!flags.yes && !(await agrees(io, `${what}?`))) return EXIT.failed
  const { until, entries } = await make()
  const isOwnLimit = action === 'limit' || action === 'unlimit'
  const usage = isOwnLimit ? usageOf(entries) : undefined
  write({ until, usage }, `done: ${what}${untilText(change, until)}`)
  return EXIT.ok
}

async function planOf(
  change: Change,
  text: string,
  { prefix, policy, ipv6Prefix }: ChangeFlags,
  store: Connection['store'],
  io: Io,
): Promise<Plan> {
  const network = networkOf(text, ipv6Prefix)
  if (network !== undefined || text === FROM_STDIN) {
    if (policy !== undefined)
      throw new UsageError('a network is blocked in every policy: leave --policy out')
    const networks = network === undefined ? await readNetworks(io.stdin) : [network]
    return networkPlan(store, change, networks, prefix)
  }
  const reading = reportedReading(io.stderr)
  const key = clientKey(text, ipv6Prefix)
  const plan = await clientPlan(store, change, key, { prefix, policy }, reading)
  sayUnreadable(reading, io.stderr)
  return plan
}

/** How each policy of a client stands, in the words of `usage()` of an adapter. */
function usageOf(entries: readonly StoreEntry[]) {
  const quotas = entries.filter(({ keyspace }) => keyspace.algorithm.name !== 'ban')
  return quotas.map(({ at, limit, policy, remaining, resetMs, used, windowMs }) => {
    const resetsAt = resetMs === undefined ? undefined : new Date(at + resetMs).toISOString()
    return { policy, limit, used, remaining, resetsAt, windowMs: windowMs || undefined }
  })
}
