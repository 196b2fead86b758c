import { chown, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startReady } from '../processes/own-process.ts'
import { freePorts, LOOPBACK } from '../redis/ports.ts'
import { pgBouncerBinary } from './binary.ts'
import type { PostgresServer } from './server.ts'
import { unprivileged } from './unprivileged.ts'

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
export async function startPgBouncer({ url, port: behind }: PostgresServer): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-pgbouncer-'))
  const [port] = (await freePorts(1)) as [number]
  await writeFile(join(folder, 'pgbouncer.ini'), settings(behind, port))
  // It refuses root too.
  const ids = unprivileged()
  if (ids) await chown(folder, ids.uid, ids.gid)
  const command = [pgBouncerBinary(), 'pgbouncer.ini'] as const
  const isUp = (log: string) => log.includes('process up')
  const stop = await startReady(command, { folder, ids }, 'PgBouncer', isUp)
  return { url: url.replace(`:${behind}/`, `:${port}/`), stop }
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
