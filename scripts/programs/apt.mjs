// Installs what the tests need beyond Node, without asking: as root on Debian or Ubuntu.

import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { getuid } from 'node:process'
import { showLog, step } from '../log.mjs'
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

/** Whether this process has asked for the newest list of packages. */
let isUpdated = false

/** Installs the package if possible. The caller checks whether it is there. */
export async function installWithApt(name) {
  if (getuid?.() !== 0 || !existsSync('/etc/debian_version')) return
  await step(`Installing Debian's package ${name}`, async (log) => {
    const apt = (...args) =>
      run('apt-get', ['-qq', ...args], { env: { DEBIAN_FRONTEND: 'noninteractive' }, log })
    if (!isUpdated) isUpdated = (await apt('update')) === 0
    const code = await withoutServices(() => apt('install', '-y', '--no-install-recommends', name))
    if (code !== 0) showLog(log)
  })
}
