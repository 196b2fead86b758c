// The versions of Node that the packages support, from npm, where this process runs on another.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { arch, execPath, platform, versions } from 'node:process'

const MAJORS = [22, 24, 26]

/** The path of each binary, by the name that tests have for it. */
export type Runtimes = Record<string, string>

/**
 * @param folder where they are installed
 * @param npm runs npm there
 */
export async function installRuntimes(
  folder: string,
  npm: (...args: string[]) => Promise<unknown>,
): Promise<Runtimes> {
  const missing = MAJORS.filter((major) => major !== Number.parseInt(versions.node, 10))
  mkdirSync(folder)
  // The package node would choose the one of this machine by an install script, which runs npm again.
  const wanted = missing.map((major) => `node${major}@npm:node-${platform}-${arch}@${major}`)
  await npm('install', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', folder, ...wanted)
  const binary = (major: number) => join(folder, 'node_modules', `node${major}`, 'bin', 'node')
  return Object.fromEntries([
    [`node ${versions.node}`, execPath],
    ...missing.map((major) => [`node ${major}`, binary(major)]),
  ])
}
