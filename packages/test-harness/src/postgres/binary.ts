import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findExecutable, whyNot } from '../executables/index.ts'

/** Where Debian keeps the programs of each version. */
const DEBIAN = '/usr/lib/postgresql'

/**
 * The folder with `postgres` and `initdb`: that of `$POSTGRES_SERVER`, else of the PATH, else
 * Debian's newest.
 *
 * @throws Error with how to get one
 */
export function postgresFolder(env: NodeJS.ProcessEnv = process.env): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : []
  const newest = versions.sort((a, b) => Number(b) - Number(a))
  const path = [env.PATH, ...newest.map((version) => join(DEBIAN, version, 'bin'))].join(':')
  const wanted = {
    variable: 'POSTGRES_SERVER',
    names: ['postgres'],
    advice: 'apt-get install postgresql, brew install postgresql',
  }
  // On the PATH it may be a link; the other programs are where it leads.
  return dirname(realpathSync(findExecutable(wanted, { ...env, PATH: path })))
}

/** @throws Error with how to get it */
export function pgBouncerBinary(env: NodeJS.ProcessEnv = process.env): string {
  const wanted = {
    variable: 'PGBOUNCER',
    names: ['pgbouncer'],
    advice: 'apt-get install pgbouncer, brew install pgbouncer',
  }
  // Debian has it where only root looks.
  return findExecutable(wanted, { ...env, PATH: `${env.PATH}:/usr/sbin` })
}

/** Why there can be no server, with how to get one; undefined if there can. */
export function whyNoPostgres(env?: NodeJS.ProcessEnv): string | undefined {
  return whyNot(() => postgresFolder(env))
}

/** Why there can be no PgBouncer in front of a server, with how to get one; undefined if there can. */
export function whyNoPgBouncer(env?: NodeJS.ProcessEnv): string | undefined {
  return whyNoPostgres(env) ?? whyNot(() => pgBouncerBinary(env))
}
