import type { SqliteFile } from './sqlite-file.ts'

/** The key of the row that says when the next step of the sweep is due. No client's key is empty. */
const SWEEP = ''
/** A sweep that stops for so long is taken over, and the next one begins so long after the last, ms. */
const LEASE_MS = 1000
const PAUSE_MS = 30_000

/** Gives some free pages back to the file system. */
const FREE = 'PRAGMA incremental_vacuum(64)'

/**
 * Makes what deletes expired rows, in steps, which one of all connections to the file does. A step looks at
 * `count` rows in the order of their keys, and returns whether there are more for this connection.
 */
export function sweepOf(file: SqliteFile): (count: number, now: number) => boolean {
  /** The key after which this connection goes on, and when that is to be at the latest. */
  let next = { key: '', until: 0 }

  return (count, now) => {
    const statements = file.lock()
    if (statements === undefined) return next.key !== ''
    try {
      const { expires = 0 } = (statements.expiryOf.get(SWEEP) ?? {}) as { expires?: number }
      // A clock that was set back must not stop it.
      const isDue = expires <= now || expires > now + PAUSE_MS || expires === next.until
      if (isDue) {
        const last = statements.nth.get(next.key, count - 1) as { key: string } | undefined
        statements.sweep.run(next.key, last?.key ?? '\x7f', now)
        next = { key: last?.key ?? '', until: now + (last === undefined ? PAUSE_MS : LEASE_MS) }
        statements.put.run(SWEEP, new Uint8Array(), next.until)
        // Not a statement: run() of better-sqlite3 would free a single page.
        statements.exec(FREE)
      }
      statements.commit.run()
      return isDue && next.key !== ''
    } catch (error) {
      throw file.failed(error)
    }
  }
}
