import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Ids, unprivileged } from '../postgres/unprivileged.ts'
import { LOOPBACK } from '../redis/ports.ts'
import { type OwnProcess, startOwn, untilReady } from './own-process.ts'

/** Where a server that refuses root runs. */
export interface Place {
  readonly folder: string
  readonly ids: Ids | undefined
}

/** Starts something in a new folder of its own, which is removed if that fails. */
export async function inOwnFolder<T>(
  name: string,
  start: (place: Place) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), `sluice-${name}-`))
  try {
    const ids = unprivileged()
    if (ids) await chown(folder, ids.uid, ids.gid)
    return await start({ folder, ids })
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

/** A server of a database of the test's own. It dies with the test process, however that ends. */
export class OwnDatabase {
  readonly host = LOOPBACK
  readonly port: number
  protected readonly place: Place
  protected process: OwnProcess | undefined
  readonly #command: readonly [path: string, ...args: string[]]

  constructor(port: number, place: Place, command: readonly [path: string, ...args: string[]]) {
    this.port = port
    this.place = place
    this.#command = command
  }

  /** The end of what it has printed. */
  log(): string {
    return this.process?.log() ?? ''
  }

  /** Starts a killed server again, on its port and with its data: it recovers as after a crash. */
  async restart(): Promise<void> {
    const [path, ...args] = this.#command
    this.process = startOwn(path, args, this.place)
    await untilReady(this.process, 'the server', (log) =>
      /ready (for|to accept)( read-only)? connections/.test(log),
    )
  }
}
