// Installs what the tests need beyond Node, without asking: as root on Debian or Ubuntu.

import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { getuid } from 'node:process'
import { run } from '../workspace.mjs'

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

/** Installs the package if possible. The caller checks whether it is there. */
export async function installWithApt(name) {
  if (getuid?.() !== 0 || !existsSync('/etc/debian_version')) return
  console.log(`Installing the package ${name}, which the tests need.`)
  const apt = (...args) =>
    run('apt-get', ['-qq', ...args], { env: { DEBIAN_FRONTEND: 'noninteractive' } })
  await apt('update')
  await withoutServices(() => apt('install', '-y', '--no-install-recommends', name))
}
