// Finds libfaketime, by which the tests set the clock of a Redis server.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import { installWithApt } from './apt.mjs'

function isInstalled() {
  if (env.LIBFAKETIME) return existsSync(env.LIBFAKETIME)
  const folders = ['/usr/lib', '/usr/lib64'].filter(existsSync)
  const nested = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  return [...folders, ...nested].some((folder) =>
    existsSync(join(folder, 'faketime', 'libfaketimeMT.so.1')),
  )
}

/** Installs libfaketime, or says how to: without it the tests of server clocks fail, and all others run. */
export async function findFaketime() {
  if (!env.LIBFAKETIME && !isInstalled()) await installWithApt('faketime')
  if (isInstalled()) return
  console.error(
    'The tests of server clocks need libfaketime, on Linux: install faketime (apt, dnf), or set LIBFAKETIME to its path.',
  )
}
