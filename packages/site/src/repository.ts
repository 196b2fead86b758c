import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The folder of the workspace. */
export const root = resolve(import.meta.dirname, '../../..')

const { homepage, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  homepage: string
  repository: { url: string }
}

/** Where the site is published. It ends with a slash. */
export const SITE = homepage
/** The path of the site on its host: the base of its links. */
export const BASE = new URL(homepage).pathname
/** The repository as people read it. */
export const REPOSITORY = repository.url.replace(/^git\+|\.git$/g, '')

/** Where pictures are on npm, which shows no other files of the repository. */
export const PICTURES = `${REPOSITORY.replace('//github.com/', '//raw.githubusercontent.com/')}/main/`

/** @param path of a file or a folder of the repository */
export function inRepository(path: string, isFolder: boolean): string {
  return `${REPOSITORY}/${isFolder ? 'tree' : 'blob'}/main/${path}`
}
