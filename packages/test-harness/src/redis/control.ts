import { Redis } from 'ioredis'
import { LOOPBACK } from './ports.ts'

/** How long a server may take before it counts as not answering, ms. */
const TIMEOUT_MS = 5_000

export type Send = (name: string, ...args: (string | number)[]) => Promise<unknown>

/**
 * Runs commands on a connection of their own that is closed afterwards, so that it outlives no
 * restart. It adds nothing to the server's statistics but those commands: no HELLO, no ready check.
 */
export async function connected<T>(port: number, use: (send: Send) => Promise<T>): Promise<T> {
  const client = new Redis({
    host: LOOPBACK,
    port,
    protocol: 2,
    lazyConnect: true,
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    // When the server has closed first, ioredis would hold the test process for two seconds.
    disconnectTimeout: 0,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return await use((name, ...args) => client.call(name, ...args))
  } finally {
    client.disconnect()
  }
}
