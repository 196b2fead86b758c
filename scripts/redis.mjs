// Finds a Redis server for the tests, which start it by themselves and against nothing else.

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { env, exit } from 'node:process'
import { installWithApt } from './apt.mjs'

const names = ['redis-server', 'valkey-server']

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function onPath() {
  const folders = (env.PATH ?? '').split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable)
}

/** The path of a Redis or Valkey server. Ends the process where there is none to be had. */
export async function findRedis() {
  if (env.REDIS_SERVER) {
    if (isExecutable(env.REDIS_SERVER)) return env.REDIS_SERVER
    console.error(`REDIS_SERVER is not an executable file: ${env.REDIS_SERVER}`)
    exit(1)
  }
  if (!onPath()) await installWithApt('redis-server')
  const server = onPath()
  if (server) return server
  console.error(
    'The tests need a Redis server: install redis-server (apt, dnf, brew install redis), or set REDIS_SERVER to one.',
  )
  exit(1)
}
