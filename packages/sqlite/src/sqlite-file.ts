import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database, Driver } from './driver.ts'
import { explained, isBusy, notShared } from './setup-error.ts'
import { type FileSettings, type Statements, statementsOn } from './table.ts'

/** How often it is asked whether the file was deleted or replaced, ms. */
const CHECK_MS = 1000
/** File systems that machines share: the numbers of NFS, SMB, SMB 2 and CIFS in Linux. */
const NETWORK = [0x6969, 0x517b, 0xfe534d42, 0xff534d42]

/** The table in its file. */
export type SqliteFile = ReturnType<typeof sqliteFile>

/** The table in a file, which never waits: neither for the lock nor, unless it is durable, for the disk. */
export function sqliteFile(path: string, driver: Driver, settings: FileSettings) {
  /** The connection, and which file it has. */
  let open: { database: Database; statements: Statements; id: string | undefined } | undefined
  let checkAt = 0

  const connect = () => {
    const type = process.platform === 'linux' ? statfsSync(dirname(path)).type : 0
    if (NETWORK.includes(type))
      throw notShared(path, `a file system of type 0x${type.toString(16)}`)
    const database = new driver(path)
    try {
      return { database, statements: statementsOn(database, path, settings), id: idOf(path) }
    } catch (error) {
      database.close()
      throw error
    }
  }
  /** Opens the file if it is not open, or if its path has another one meanwhile. */
  const statements = () => {
    const now = performance.now()
    if (now >= checkAt) {
      checkAt = now + CHECK_MS
      if (open !== undefined && open.id !== idOf(path)) close()
    }
    open ??= connect()
    return open.statements
  }
  /**
   * Begins a transaction and takes the lock of the file. `commit` ends it, `failed` undoes it.
   *
   * @returns undefined if another connection has the lock
   * @throws SluiceError if the file can't be used
   */
  const lock = () => {
    try {
      const opened = statements()
      opened.begin.run()
      return opened
    } catch (error) {
      if (isBusy(error)) return undefined
      throw failed(error)
    }
  }
  /**
   * Closes the file, which undoes what is not committed: when it is opened anew, it may have been repaired.
   *
   * @returns the error that was the reason, in words where it is of the file
   */
  const failed = (error: unknown) => {
    close()
    return explained(error, path)
  }
  const close = () => {
    open?.database.close()
    open = undefined
  }
  return { lock, statements, failed, close }
}

/** Identifies the file at a path; undefined if there is none. */
function idOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && `${stats.dev}:${stats.ino}`
}
