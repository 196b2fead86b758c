import {
  type Cidr,
  checkNetwork,
  cidrText,
  knownKeyspaces,
  networkBlocksOf,
  SluiceError,
} from '@sluice/core/operator'
import type { Io } from '@sluice/terminal/io'
import { printable } from '@sluice/terminal/printable'
import { UsageError } from '@sluice/terminal/usage-error'
import { count, listed } from '@sluice/terminal/words'
import type { Change, Plan } from './change.ts'
import { inWords } from './change-words.ts'
import { nobodyCounted } from './client-stand.ts'
import type { Connection } from './connection.ts'
import { StoreFailure } from './store-failure.ts'

/** In place of a network, it reads a list of networks from standard input. */
export const FROM_STDIN = '-'

/** The longest list that is read, characters: more than all networks that can be blocked take. */
const MAX_LIST = 1_000_000
/** The most networks that are named in a line of output. */
const MAX_NAMED = 3

/** Plans to block networks in every limiter, or to end their blocks, in one step. @throws UsageError */
export async function networkPlan(
  store: Connection['store'],
  change: Change,
  networks: readonly Cidr[],
  prefix: string,
): Promise<Plan> {
  const { action } = change
  if (action === 'limit' || action === 'unlimit')
    throw new UsageError('expected a client: a limit is that of one client')
  const blocks = networkBlocksOf(store, prefix)
  const ends = async () =>
    new Map((await blocks.list()).map(({ network, until }) => [network, until]))
  const names = networks.map(cidrText)
  const isBlock = action === 'block'
  const before = await ends()
  const changed = isBlock ? names : names.filter((name) => before.has(name))
  const hasLimiters = !isBlock || (await knownKeyspaces(store, { prefix })).keyspaces.length > 0
  const verb = names.length === 1 ? 'is' : 'are'
  return {
    ...(names.length === 1 && { key: names[0] }),
    places: changed.map((network) => ({ prefix, network })),
    what: `${inWords(change, named(changed))} in every limiter (prefix ${prefix})`,
    nothing: `nothing to ${action}: ${named(names)} ${verb} not blocked under the prefix ${prefix}`,
    note: hasLimiters ? undefined : nobodyCounted({ prefix }),
    async make() {
      await (isBlock ? blocks.block(networks, change.durationMs) : blocks.unblock(networks))
      const after = await ends()
      if (names.some((name) => after.has(name) !== isBlock))
        throw new StoreFailure(
          `${action} of networks: the store does not show it, although it has confirmed it`,
        )
      const until = names.map((name) => after.get(name) as number)
      return { until: isBlock ? Math.min(...until) : undefined, entries: [] }
    },
  }
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
