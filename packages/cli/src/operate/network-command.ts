import {
  type Cidr,
  checkNetwork,
  cidrText,
  knownKeyspaces,
  SluiceError,
} from '@sluice/core/operator'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { printable } from '@sluice/terminal/printable'
import { UsageError } from '@sluice/terminal/usage-error'
import { count, listed } from '@sluice/terminal/words'
import type { Change } from './change.ts'
import { agrees, inWords, untilText, writeResult } from './change-words.ts'
import { nobodyCounted } from './client-stand.ts'
import type { Connection } from './connection.ts'
import type { ChangeFlags } from './flags.ts'
import { changeNetworks } from './networks.ts'

/** In place of a network, it reads a list of networks from standard input. */
export const FROM_STDIN = '-'

/** The longest list that is read, characters: more than all networks that can be blocked take. */
const MAX_LIST = 1_000_000
/** The most networks that are named in a line of output. */
const MAX_NAMED = 3

/** `sluice block` and `unblock` of networks, all of them in one step. @throws UsageError or SluiceError */
export async function networkCommand(
  change: Change,
  networks: readonly Cidr[],
  flags: ChangeFlags,
  store: Connection['store'],
  io: Io,
): Promise<ExitCode> {
  const { action } = change
  const { prefix, policy } = flags
  if (action === 'limit' || action === 'unlimit')
    throw new UsageError('a limit is that of one client')
  if (policy !== undefined)
    throw new UsageError('a network is blocked in every policy: leave --policy out')
  const names = networks.map(cidrText)
  const name = named(names)
  const what = `${inWords(change, name)} in every limiter (prefix ${prefix})`
  if (!flags.yes && !(await agrees(io, `${what}?`))) return EXIT.failed
  const { changed, until } = await changeNetworks(store, change, networks, prefix)
  const verb = names.length === 1 ? 'is' : 'are'
  const isAll = changed.length === names.length
  const done = isAll ? what : `${inWords(change, named(changed))} (prefix ${prefix})`
  const said =
    changed.length === 0
      ? `nothing to ${action}: ${name} ${verb} not blocked under the prefix ${prefix}`
      : `done: ${done}${untilText(change, until)}`
  const result = {
    ...(names.length === 1 ? { key: names[0] } : {}),
    action,
    changed: changed.map((network) => ({ prefix, network })),
    until,
  }
  writeResult(io, flags, result, said)
  if (action === 'block' && (await knownKeyspaces(store, { prefix })).keyspaces.length === 0)
    io.stderr.write(`${nobodyCounted({ prefix })}\n`)
  return changed.length === 0 ? EXIT.failed : EXIT.ok
}

function named(networks: readonly string[]): string {
  if (networks.length === 1) return `the network ${networks[0]}`
  const more = networks.length - MAX_NAMED
  const shown = networks.slice(0, MAX_NAMED)
  const names = more > 0 ? `${shown.join(', ')} and ${more} more` : listed(shown)
  return `${count(networks.length, 'network')} (${names})`
}

/**
 * The networks of a list: a network or an address in each line. Empty lines are left out, and what follows a `#`.
 *
 * @throws UsageError with the line that is wrong
 */
export async function readNetworks(input: Io['stdin']): Promise<readonly Cidr[]> {
  let text = ''
  for await (const chunk of input) {
    text += chunk
    if (text.length > MAX_LIST)
      throw new UsageError(`the list has more than ${MAX_LIST} characters: block larger networks`)
  }
  const networks = text.split(/\r?\n/).flatMap((line, i) => {
    const network = line.replace(/#.*/, '').trim()
    return network === '' ? [] : [networkAt(network, i + 1)]
  })
  if (networks.length === 0) throw new UsageError('expected networks in standard input, one a line')
  return [...new Map(networks.map((network) => [cidrText(network), network])).values()]
}

function networkAt(text: string, line: number): Cidr {
  try {
    return checkNetwork(text)
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    const shown = printable(text.slice(0, 60))
    throw new UsageError(
      `line ${line} of the list: expected a network such as 203.0.113.0/24 or 2001:db8::/32, of at least 8 bits for IPv4 and 16 for IPv6, received '${shown}'`,
    )
  }
}
