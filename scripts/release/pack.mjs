// Packs the published packages as pnpm publishes them.

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { published } from '../addresses.mjs'
import { build } from '../build.mjs'
import { pnpm } from '../pnpm.mjs'
import { root } from '../workspace.mjs'
import { manifestOf } from './packages.mjs'

/**
 * When the newest file of a folder was written. ms, 0: it has none. Tests write files beside sources, whose
 * names begin with a dot: they and the times of folders do not count.
 */
function newest(folder) {
  const entries = existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
    : []
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter(
      (file) =>
        !relative(folder, file)
          .split(sep)
          .some((part) => part.startsWith('.')),
    )
  return Math.max(0, ...files.map((file) => statSync(file).mtimeMs))
}

/** A command has a bundle, with other packages of the workspace in it. */
function isBuilt(name) {
  const isCommand = manifestOf(name).exports === undefined
  const sources = isCommand ? readdirSync(join(root, 'packages')) : [name]
  const built = newest(join(root, 'packages', name, 'dist'))
  const folders = sources.map((each) => join(root, 'packages', each, 'src'))
  return [...folders, join(root, 'scripts/bundle')].every((folder) => built > newest(folder))
}

/** The bytes of all files in a tarball. */
function contentOf(path) {
  const listed = execFileSync('tar', ['tvzf', path], { encoding: 'utf8' }).trim().split('\n')
  return listed.reduce((sum, line) => sum + Number(line.split(/\s+/)[2]), 0)
}

/**
 * Builds what is older than its sources.
 *
 * @param folder where the tarballs go
 * @returns for each package its folder's name, the path of its tarball, and from the tarball its
 *   manifest, readme, the paths of its files and their bytes
 */
export async function pack(folder) {
  if (!published.every(isBuilt) && !(await build())) throw new Error('The build failed.')
  const filters = published.flatMap((name) => ['--filter', manifestOf(name).name])
  const code = await pnpm([
    ...filters,
    '--reporter=silent',
    '-r',
    'pack',
    '--pack-destination',
    folder,
  ])
  if (code !== 0) throw new Error('pnpm pack failed.')
  return published.map((name) => {
    const { name: scoped, version } = manifestOf(name)
    const path = join(folder, `${scoped.slice(1).replace('/', '-')}-${version}.tgz`)
    const tar = (...args) => execFileSync('tar', args, { encoding: 'utf8' })
    const text = (file) => tar('xzOf', path, `package/${file}`)
    const files = tar('tzf', path).trim().split('\n')
    return {
      name,
      path,
      content: contentOf(path),
      files: files.map((file) => file.replace(/^package\//, '')),
      manifest: JSON.parse(text('package.json')),
      readme: text('README.md'),
    }
  })
}
