// Finds the PostgreSQL server that the tests of @sluice/postgres start.

import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { env } from 'node:process'
import { installWithApt } from './apt.mjs'

function isInstalled() {
  if (env.POSTGRES_SERVER) return existsSync(env.POSTGRES_SERVER)
  // Debian keeps it outside of the PATH.
  if (existsSync('/usr/lib/postgresql')) return true
  return (env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'postgres')))
}

/** Without it the tests of PostgreSQL are skipped, and all others run: so this only says it. */
export async function findPostgres() {
  if (!env.POSTGRES_SERVER && !isInstalled()) await installWithApt('postgresql')
  if (isInstalled()) return
  console.error(
    'The tests of PostgreSQL need its server: install postgresql (apt, dnf, brew), or set POSTGRES_SERVER to the path of postgres.',
  )
}
