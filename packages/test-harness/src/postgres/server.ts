import { execFile } from 'node:child_process'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type OwnProcess, startOwn, untilReady } from '../processes/own-process.ts'
import { freePorts, LOOPBACK } from '../redis/ports.ts'
import { postgresFolder } from './binary.ts'
import { cpuMicrosOf, familyOf, limitFilesOf, signalAll } from './processes.ts'
import { type Ids, unprivileged } from './unprivileged.ts'

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
export async function startPostgres(primary?: Primary): Promise<PostgresServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-postgres-'))
  try {
    return await startIn(folder, primary)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function startIn(folder: string, primary: Primary | undefined): Promise<PostgresServer> {
  const ids = unprivileged()
  if (ids) await chown(folder, ids.uid, ids.gid)
  const data = ['-D', join(folder, 'data')]
  const [program, ...options] = primary ? copyOf(primary) : NEW
  const path = join(postgresFolder(), program)
  await promisify(execFile)(path, [...data, ...options], { cwd: folder, ...ids })
  const [port] = (await freePorts(1)) as [number]
  const args = [...data, '-p', `${port}`]
  for (const setting of SETTINGS) args.push('-c', setting)
  const server = new PostgresServer(port, folder, args, ids)
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
export class PostgresServer {
  readonly host = LOOPBACK
  readonly port: number
  readonly #folder: string
  readonly #args: readonly string[]
  readonly #ids: Ids | undefined
  #process: OwnProcess | undefined

  constructor(port: number, folder: string, args: readonly string[], ids: Ids | undefined) {
    this.port = port
    this.#folder = folder
    this.#args = args
    this.#ids = ids
  }

  /** `postgres://postgres@127.0.0.1:<port>/postgres` */
  get url(): string {
    return `postgres://postgres@${this.host}:${this.port}/postgres`
  }

  /** The end of what it has printed. */
  log(): string {
    return this.#process?.log() ?? ''
  }

  /** Starts a killed server again, on its port and with its data: it recovers as after a crash. */
  async restart(): Promise<void> {
    const options = { folder: this.#folder, ids: this.#ids }
    this.#process = startOwn(join(postgresFolder(), 'postgres'), this.#args, options)
    await untilReady(this.#process, 'PostgreSQL', (log) =>
      /ready to accept (read-only )?connections/.test(log),
    )
  }

  /** Ends the server, frozen or not, and removes its data. */
  async stop(): Promise<void> {
    this.resume()
    // A fast shutdown: connections are ended.
    this.#process?.signal('SIGINT')
    await Promise.race([this.#process?.end(), delay(GRACE_MS, undefined, { ref: false })])
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** Ends all of its processes with SIGKILL, as a crash of the machine would. */
  async kill(): Promise<void> {
    signalAll(this.#family(), 'SIGKILL')
    await this.#process?.end()
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
    return limitFilesOf(this.#family(), bytes, this.#ids)
  }

  /** CPU time of each of its processes so far, by its id, µs: each connection has one. Needs Linux. */
  cpuMicros(): ReadonlyMap<number, number> {
    return new Map(this.#family().map((pid) => [pid, cpuMicrosOf(pid)]))
  }

  /** The ids of its processes, none once it has ended. */
  #family(): number[] {
    return this.#process?.isRunning() ? familyOf(this.#process.pid) : []
  }
}
