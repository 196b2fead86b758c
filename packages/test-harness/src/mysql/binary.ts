import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { findExecutable, whyNot } from '../executables/index.ts'

const advice = 'apt-get install mariadb-server, brew install mariadb'

/**
 * The server: as `$MYSQL_SERVER` says, else the first on the PATH; and the program that creates the folder of its
 * data: the server itself if it is MySQL.
 *
 * @throws Error with how to get them
 */
export function mysqlBinaries(env: NodeJS.ProcessEnv = process.env) {
  const wanted = { variable: 'MYSQL_SERVER', names: ['mariadbd', 'mysqld'], advice }
  // Debian has it where only root looks.
  const server = findExecutable(wanted, { ...env, PATH: `${env.PATH}:/usr/sbin` })
  if (basename(realpathSync(server)) === 'mysqld') return { server, install: server, isMysql: true }
  const install = { variable: 'MARIADB_INSTALL_DB', names: ['mariadb-install-db'], advice }
  const folders = [dirname(server), join(dirname(server), '../bin')]
  const path = [...folders, env.PATH].join(':')
  return { server, install: findExecutable(install, { ...env, PATH: path }), isMysql: false }
}

/** Why there can be no server, with how to get one; undefined if there can. */
export function whyNoMysql(env?: NodeJS.ProcessEnv): string | undefined {
  return whyNot(() => mysqlBinaries(env))
}
