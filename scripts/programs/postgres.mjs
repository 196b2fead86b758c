// Finds the PostgreSQL server and the PgBouncer that the tests of @sluice/postgres start.

import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { env } from 'node:process'
import { installWithApt } from './apt.mjs'

const PROGRAMS = [
  // Debian keeps it outside of the PATH.
  {
    variable: 'POSTGRES_SERVER',
    name: 'postgres',
    aptName: 'postgresql',
    aptPath: '/usr/lib/postgresql',
  },
  {
    variable: 'PGBOUNCER',
    name: 'pgbouncer',
    aptName: 'pgbouncer',
    aptPath: '/usr/sbin/pgbouncer',
  },
]

function isInstalled({ variable, name, aptPath }) {
  if (env[variable]) return existsSync(env[variable])
  if (existsSync(aptPath)) return true
  return (env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)))
}

/** Installs PostgreSQL's programs, or says how to: without them the tests that need them are skipped. */
export async function findPostgres() {
  for (const program of PROGRAMS) {
    const { variable, name, aptName } = program
    if (!env[variable] && !isInstalled(program)) await installWithApt(aptName)
    if (isInstalled(program)) continue
    console.error(
      `Tests of PostgreSQL need ${name}: install ${aptName} (apt, dnf, brew), or set ${variable} to its path.`,
    )
  }
}
