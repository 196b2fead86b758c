import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inOwnFolder } from '../processes/own-database.ts'
import { startReady } from '../processes/own-process.ts'
import { freePorts, LOOPBACK } from '../redis/ports.ts'
import { pgBouncerBinary } from './binary.ts'
import type { PostgresServer } from './server.ts'

/** A PgBouncer of the test's own. It dies with the test process, however that ends. */
export interface PgBouncer {
  /** The address for the same user and database as the server's. */
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts PgBouncer in transaction mode in front of a server, on a free loopback port: each
 * transaction of a client may run on another connection to the server.
 */
export function startPgBouncer({ url, port: behind }: PostgresServer): Promise<PgBouncer> {
  return inOwnFolder('pgbouncer', async (place) => {
    const [port] = (await freePorts(1)) as [number]
    await writeFile(join(place.folder, 'pgbouncer.ini'), settings(behind, port))
    const command = [pgBouncerBinary(), 'pgbouncer.ini'] as const
    const isUp = (log: string) => log.includes('process up')
    const stop = await startReady(command, place, 'PgBouncer', isUp)
    return { url: url.replace(`:${behind}/`, `:${port}/`), stop }
  })
}

function settings(behind: number, port: number): string {
  return `[databases]
* = host=${LOOPBACK} port=${behind} user=postgres
[pgbouncer]
listen_addr = ${LOOPBACK}
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 5
`
}
