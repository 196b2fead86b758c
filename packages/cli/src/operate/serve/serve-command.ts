import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'
import { parseDuration } from '@sluice/core/operator'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { UsageError } from '@sluice/terminal/usage-error'
import type { Connection } from '../connection.ts'
import type { ServeFlags } from '../flags.ts'
import { Ranker } from '../ranking.ts'
import { newToken } from './access.ts'
import { clientRequests } from './client-requests.ts'
import { createOperatorServer } from './operator-server.ts'
import { PolicyWatch } from './policy-watch.ts'
import { StoreWatch } from './store-watch.ts'

/** Clients that the page shows. */
const ROWS = 50
/** The shortest pause between two readings, ms. */
const MIN_EVERY_MS = 100

/**
 * `sluice serve`: the page for operators, until it is interrupted.
 *
 * @param signal ends it
 */
export async function serveCommand(
  flags: ServeFlags,
  { store, health }: Connection,
  { stdout, stderr }: Pick<Io, 'stdout' | 'stderr'>,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { prefix, policy, host, ipv6Prefix } = flags
  const everyMs = parseDuration('--every', flags.every, MIN_EVERY_MS)
  const port = portOf(flags.port)
  const scope = { prefix, policy }
  const policies = new PolicyWatch(store, prefix, policy !== undefined)
  const watch = new StoreWatch(new Ranker(store, scope, ROWS), policies, health, everyMs)
  const token = newToken()
  const requests = {
    ...clientRequests(store, scope, ipv6Prefix),
    policy: policies.change.bind(policies),
  }
  const server = createOperatorServer({ token, host, requests, look: () => watch.look() })
  try {
    await listen(server, port, host)
    const { port: actual } = server.address() as AddressInfo
    const name = isIPv6(host) ? `[${host}]` : host
    stdout.write(`http://${name}:${actual}/${token}/\n`)
    stderr.write(
      `${warningFor(host)}Anyone who has this address can reset, block and limit clients, and change live policies. Ctrl-C ends it.\n`,
    )
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    server.close()
    server.closeAllConnections()
    await watch.close()
  }
  return EXIT.ok
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new UsageError(`--host, --port: can't listen on ${host}, port ${port}: ${error.message}`),
      )
    })
    server.listen(port, host, resolve)
  })
}

function portOf(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new UsageError(`--port: expected 0 to 65535, received '${text}'`)
}

function warningFor(host: string): string {
  if (/^(127\.|localhost$|::1$)/.test(host)) return ''
  return 'Other machines can reach it, and the address travels unencrypted: an SSH tunnel is safer.\n'
}
