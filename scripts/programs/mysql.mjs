// Finds the server of MariaDB or MySQL that the tests of @sluice/mysql start.

import { existsSync } from 'node:fs'
import { env } from 'node:process'
import { installWithApt } from './apt.mjs'
import { onPath } from './executable.mjs'

/** Debian keeps it outside of the PATH of most users. */
const APT_PATH = '/usr/sbin/mariadbd'

const isInstalled = () =>
  env.MYSQL_SERVER
    ? existsSync(env.MYSQL_SERVER)
    : existsSync(APT_PATH) || onPath(['mariadbd', 'mysqld']) !== undefined

/** Installs MariaDB, or says how to: without it the tests that need it are skipped. */
export async function findMysql() {
  if (!env.MYSQL_SERVER && !isInstalled()) await installWithApt('mariadb-server')
  if (isInstalled()) return
  console.error(
    'Tests of MySQL need mariadbd or mysqld: install mariadb-server (apt, dnf, brew install mariadb), or set MYSQL_SERVER to its path.',
  )
}
