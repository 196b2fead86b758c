// Programs that the tests run, by name.

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { env, exit } from 'node:process'
import { installWithApt } from './apt.mjs'

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The first of these programs on the PATH. */
export function onPath(names) {
  const folders = (env.PATH ?? '').split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable)
}

/**
 * The path of a program: as `variable` says, else one of the names on the PATH, which comes with a
 * Debian package of the first name. Ends the process, with the advice, if there is none.
 */
export async function findExecutable({ variable, names, advice }) {
  if (env[variable]) {
    if (isExecutable(env[variable])) return env[variable]
    console.error(`${variable} is not an executable file: ${env[variable]}`)
    exit(1)
  }
  if (!onPath(names)) await installWithApt(names[0])
  const found = onPath(names)
  if (found) return found
  console.error(`${advice}, or set ${variable} to one.`)
  exit(1)
}
