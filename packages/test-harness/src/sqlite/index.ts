import { createRequire } from 'node:module'

/** A class that opens files of SQLite. */
type Driver = new (
  path: string,
) => { exec(sql: string): unknown; prepare(sql: string): object; close(): unknown }

/** Where better-sqlite3 is, if tests are to run on it: a file or a folder that `require` finds. */
const { BETTER_SQLITE3 } = process.env

/** The driver of the tests: better-sqlite3 if the environment names it. Undefined: Node's. */
export function sqliteDriver(): Driver | undefined {
  return BETTER_SQLITE3 ? createRequire(`${process.cwd()}/`)(BETTER_SQLITE3) : undefined
}

/** Why tests of SQLite can't run; undefined: they can. */
export function whyNoSqlite(): string | undefined {
  if (BETTER_SQLITE3 || process.getBuiltinModule('node:sqlite') !== undefined) return undefined
  return 'SQLite needs Node ≥ 22.5, or better-sqlite3 in $BETTER_SQLITE3'
}
