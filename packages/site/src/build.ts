// npm start -- site build, and npm start -- site where something has changed.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vitepress'
import { skills } from './llms.ts'
import { PAGES } from './pages.ts'
import { root } from './repository.ts'

const site = join(import.meta.dirname, '..')
/** Where the built site is. */
export const dist = join(site, '.vitepress/dist')
/** The last file of a build that has succeeded. */
const last = join(dist, 'llms.txt')

/** The files of which the site is made. */
const SOURCES = [
  ...[...PAGES, ...skills()].map(({ file }) => file),
  ...['docs', 'packages/core/package.json', 'package.json', 'pnpm-lock.yaml'],
  ...['site', 'live', 'ui', 'hono', 'core'].map((name) => `packages/${name}/src`),
]

/** Builds it, unless nothing has changed since. */
export async function buildIfStale(): Promise<void> {
  if (existsSync(last) && changedAt(last) > Math.max(...SOURCES.map(inRoot).map(changedAt))) return
  await build(site)
}

const inRoot = (path: string) => join(root, path)

/** When a file, or the newest file of a folder, was changed: ms. */
function changedAt(path: string): number {
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.mtimeMs
  return Math.max(...readdirSync(path).map((name) => changedAt(join(path, name))))
}
