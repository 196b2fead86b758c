import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { inOwnFolder, OwnDatabase, type Place } from '../processes/own-database.ts'
import { freePorts, LOOPBACK } from '../redis/ports.ts'
import { postgresFolder } from './binary.ts'
import { cpuMicrosOf, familyOf, limitFilesOf, signalAll } from './processes.ts'

const GRACE_MS = 3_000

/** Settings without the safety of a disk, which a test does not need; the rest is as Debian has it. */
const SETTINGS = [
  'fsync=off',
  'full_page_writes=off',
  'shared_buffers=16MB',
  // In the folder of the data, so that a killed server leaves nothing behind.
  'dynamic_shared_memory_type=mmap',
  'unix_socket_directories=',
  `listen_addresses=${LOOPBACK}`,
]

/** What a replica copies. */
type Primary = Pick<PostgresServer, 'url'>

/**
 * Starts a server on a free loopback port, in a folder of its own, and waits until it accepts
 * connections of the user `postgres`, without a password.
 *
 * @param primary The server is a read-only replica of it, until it is promoted. Default: its own
 *   primary
 */
export function startPostgres(primary?: Primary): Promise<PostgresServer> {
  return inOwnFolder('postgres', (place) => startIn(place, primary))
}

async function startIn(place: Place, primary: Primary | undefined): Promise<PostgresServer> {
  const { folder, ids } = place
  const data = ['-D', join(folder, 'data')]
  const [program, ...options] = primary ? copyOf(primary) : NEW
  const path = join(postgresFolder(), program)
  await promisify(execFile)(path, [...data, ...options], { cwd: folder, ...ids })
  const [port] = (await freePorts(1)) as [number]
  const args = [...data, '-p', `${port}`]
  for (const setting of SETTINGS) args.push('-c', setting)
  const server = new PostgresServer(port, place, [join(postgresFolder(), 'postgres'), ...args])
  await server.restart()
  return server
}

type Command = readonly [string, ...string[]]

const NEW: Command = [
  'initdb',
  '--username=postgres',
  '--auth=trust',
  '--encoding=UTF8',
  '--locale=C',
  '--wal-segsize=1',
  '--no-sync',
]

function copyOf({ url }: Primary): Command {
  return [
    'pg_basebackup',
    `--dbname=${url}`,
    '--write-recovery-conf',
    '--checkpoint=fast',
    '--no-sync',
  ]
}

/** A PostgreSQL server of the test's own. It dies with the test process, however that ends. */
export class PostgresServer extends OwnDatabase {
  /** `postgres://postgres@127.0.0.1:<port>/postgres` */
  get url(): string {
    return `postgres://postgres@${this.host}:${this.port}/postgres`
  }

  /** Ends the server, frozen or not, and removes its data. */
  async stop(): Promise<void> {
    this.resume()
    // A fast shutdown: connections are ended.
    this.process?.signal('SIGINT')
    await Promise.race([this.process?.end(), delay(GRACE_MS, undefined, { ref: false })])
    await this.kill()
    await rm(this.place.folder, { recursive: true, force: true })
  }

  /** Ends all of its processes with SIGKILL, as a crash of the machine would. */
  async kill(): Promise<void> {
    signalAll(this.#family(), 'SIGKILL')
    await this.process?.end()
  }

  /** Freezes all of its processes: its sockets stay open and nothing answers. */
  pause(): void {
    signalAll(this.#family(), 'SIGSTOP')
  }

  resume(): void {
    signalAll(this.#family(), 'SIGCONT')
  }

  /**
   * Lets no file grow above so many bytes, as on a full disk: what needs more fails. Needs Linux and
   * `prlimit` of util-linux.
   *
   * @param bytes `'unlimited'` ends it
   */
  limitFiles(bytes: number | 'unlimited'): Promise<void> {
    return limitFilesOf(this.#family(), bytes, this.place.ids)
  }

  /** CPU time of each of its processes so far, by its id, µs: each connection has one. Needs Linux. */
  cpuMicros(): ReadonlyMap<number, number> {
    return new Map(this.#family().map((pid) => [pid, cpuMicrosOf(pid)]))
  }

  /** The ids of its processes, none once it has ended. */
  #family(): number[] {
    return this.process?.isRunning() ? familyOf(this.process.pid) : []
  }
}
