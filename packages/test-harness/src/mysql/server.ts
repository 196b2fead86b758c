import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cpuMicrosOf } from '../postgres/processes.ts'
import { inOwnFolder, OwnDatabase, type Place } from '../processes/own-database.ts'
import { freePorts, LOOPBACK } from '../redis/ports.ts'
import { mysqlBinaries } from './binary.ts'

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
export function startMysql(settings: readonly string[] = []): Promise<MysqlServer> {
  return inOwnFolder('mysql', (place) => startIn(place, settings))
}

async function startIn(place: Place, settings: readonly string[]): Promise<MysqlServer> {
  const { folder, ids } = place
  const data = ['--no-defaults', `--datadir=${join(folder, 'data')}`]
  const { server: path, install, isMysql } = mysqlBinaries()
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
  const server = new MysqlServer(port, place, [path, ...data, ...args])
  await server.restart()
  return server
}

/** A server of MariaDB or MySQL of the test's own. It dies with the test process, however that ends. */
export class MysqlServer extends OwnDatabase {
  /** `mysql://root@127.0.0.1:<port>/test`: a database that is empty at first */
  get url(): string {
    return `mysql://root@${this.host}:${this.port}/test`
  }

  /** Ends the server, frozen or not, and removes its data. */
  async stop(): Promise<void> {
    // Its data is removed: nothing need be written.
    await this.kill()
    await rm(this.place.folder, { recursive: true, force: true })
  }

  /** Ends it with SIGKILL, as a crash of the machine would. */
  async kill(): Promise<void> {
    await this.process?.kill()
  }

  /** Freezes it: its sockets stay open and nothing answers. */
  pause(): void {
    this.process?.signal('SIGSTOP')
  }

  resume(): void {
    this.process?.signal('SIGCONT')
  }

  /** CPU time of each of its threads so far, by its id, µs: each connection has one. Needs Linux. */
  cpuMicros(): ReadonlyMap<number, number> {
    const threads = readdirSync(`/proc/${this.process?.pid}/task`).map(Number)
    return new Map(threads.map((id) => [id, cpuMicrosOf(id)]))
  }
}
