import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cpuMicrosOf } from '../postgres/processes.ts'
import { type Ids, unprivileged } from '../postgres/unprivileged.ts'
import { dieWithParent } from '../redis/guard.ts'
import { freePorts, LOOPBACK } from '../redis/ports.ts'
import { until } from '../redis/until.ts'
import { mysqlBinaries } from './binary.ts'

const LOG_CHARACTERS = 8_000

/** A server of MariaDB or MySQL of the test's own. It dies with the test process, however that ends. */
export interface MysqlServer {
  readonly host: string
  readonly port: number
  /** `mysql://root@127.0.0.1:<port>/test`: a database that is empty at first */
  readonly url: string
  /** Ends the server, frozen or not, and removes its data. */
  stop(): Promise<void>
  /** Ends it with SIGKILL, as a crash of the machine would. */
  kill(): Promise<void>
  /** Starts a killed server again, on its port and with its data. */
  restart(): Promise<void>
  /** Freezes it: its sockets stay open and nothing answers. */
  pause(): void
  resume(): void
  /** CPU time of each of its threads so far, by its id, µs: each connection has one. Needs Linux. */
  cpuMicros(): ReadonlyMap<number, number>
  /** The end of what it has printed. */
  log(): string
}

/** Settings without the safety of a disk, which a test does not need; the rest is as the server has it. */
const SETTINGS = [
  'innodb-flush-log-at-trx-commit=0',
  'innodb-doublewrite=0',
  'innodb-buffer-pool-size=16M',
  `bind-address=${LOOPBACK}`,
]

/**
 * Starts a server on a free loopback port, in a folder of its own, and waits until it accepts
 * connections of the user `root`, without a password.
 *
 * @param settings more of them, as of a file of options: `max-allowed-packet=1M`
 */
export async function startMysql(settings: readonly string[] = []): Promise<MysqlServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-mysql-'))
  try {
    return await startIn(folder, settings)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function startIn(folder: string, settings: readonly string[]): Promise<OwnServer> {
  const ids = unprivileged()
  if (ids) await chown(folder, ids.uid, ids.gid)
  const data = ['--no-defaults', `--datadir=${join(folder, 'data')}`]
  const { install, isMysql } = mysqlBinaries()
  const without = isMysql
    ? ['--initialize-insecure']
    : ['--auth-root-authentication-method=normal', '--skip-name-resolve', '--skip-test-db']
  await promisify(execFile)(install, [...data, ...without], { cwd: folder, ...ids })
  await writeFile(join(folder, 'init.sql'), 'CREATE DATABASE IF NOT EXISTS test;\n')
  const [port] = (await freePorts(1)) as [number]
  const places = [
    `port=${port}`,
    `socket=${join(folder, 'socket')}`,
    `init-file=${join(folder, 'init.sql')}`,
  ]
  const args = [...places, ...SETTINGS, ...settings].map((each) => `--${each}`)
  const server = new OwnServer(port, folder, [...data, ...args], ids)
  await server.restart()
  return server
}

class OwnServer implements MysqlServer {
  readonly host = LOOPBACK
  readonly port: number
  readonly #folder: string
  readonly #args: readonly string[]
  readonly #ids: Ids | undefined
  #child: ChildProcess | undefined
  #log = ''
  #ended: Promise<unknown> = Promise.resolve()

  constructor(port: number, folder: string, args: readonly string[], ids: Ids | undefined) {
    this.port = port
    this.#folder = folder
    this.#args = args
    this.#ids = ids
  }

  get url(): string {
    return `mysql://root@${this.host}:${this.port}/test`
  }

  log(): string {
    return this.#log
  }

  async restart(): Promise<void> {
    this.#log = ''
    const child = spawn(mysqlBinaries().server, this.#args, {
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      ...this.#ids,
    })
    this.#child = child
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#log = (this.#log + text).slice(-LOG_CHARACTERS)
    })
    const disarm = dieWithParent(child.pid as number, [this.#folder])
    this.#ended = once(child, 'close').then(disarm)
    // A server that a failed test has left must not keep the test process from ending.
    child.unref()
    ;(child.stderr as Socket).unref()
    const isReady = () => {
      if (child.exitCode !== null) throw new Error(`the server ended at its start:\n${this.#log}`)
      return this.#log.includes('ready for connections')
    }
    await until(isReady, { what: `it accepts on port ${this.port}` })
  }

  async stop(): Promise<void> {
    // Its data is removed: nothing need be written.
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    this.#child?.ref()
    ;(this.#child?.stderr as Socket | undefined)?.ref()
    await this.#ended
  }

  pause(): void {
    this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    this.#child?.kill('SIGCONT')
  }

  cpuMicros(): ReadonlyMap<number, number> {
    const threads = readdirSync(`/proc/${this.#child?.pid}/task`).map(Number)
    return new Map(threads.map((id) => [id, cpuMicrosOf(id)]))
  }
}
