// Finds a Redis server for the tests, which start it by themselves and against nothing else.

import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { env, exit, getuid } from 'node:process'
import { run } from './workspace.mjs'

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

/** Debian starts a service as soon as it is installed, unless this file forbids it. */
async function withoutServices(install) {
  const policy = '/usr/sbin/policy-rc.d'
  if (existsSync(policy)) return install()
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    return await install()
  } finally {
    rmSync(policy)
  }
}

async function installWithApt() {
  console.log('No Redis server found: installing the package redis-server.')
  const apt = (...args) =>
    run('apt-get', ['-qq', ...args], { env: { DEBIAN_FRONTEND: 'noninteractive' } })
  await apt('update')
  await withoutServices(() => apt('install', '-y', '--no-install-recommends', 'redis-server'))
}

/** The path of a Redis or Valkey server. Ends the process where there is none to be had. */
export async function findRedis() {
  if (env.REDIS_SERVER) {
    if (isExecutable(env.REDIS_SERVER)) return env.REDIS_SERVER
    console.error(`REDIS_SERVER is not an executable file: ${env.REDIS_SERVER}`)
    exit(1)
  }
  if (!onPath() && getuid?.() === 0 && existsSync('/etc/debian_version')) await installWithApt()
  const server = onPath()
  if (server) return server
  console.error(
    'The tests need a Redis server: install redis-server (apt, dnf, brew install redis), or set REDIS_SERVER to one.',
  )
  exit(1)
}
