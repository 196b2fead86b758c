// Where the project is found. The root package.json alone says it.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { root } from './workspace.mjs'

const { homepage, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** The address of the documentation. It ends with a slash. */
export const SITE = homepage
/** The address of the repository, as people read it. */
export const REPOSITORY = repository.url.replace(/^git\+|\.git$/g, '')
/** The address of something in the repository begins with it; its path follows. */
export const PLACES = {
  FOLDERS: `${REPOSITORY}/tree/main/`,
  FILES: `${REPOSITORY}/blob/main/`,
  PICTURES: `${REPOSITORY.replace('//github.com/', '//raw.githubusercontent.com/')}/main/`,
}

/** The folders in packages that are published, by their names. */
export const published = readdirSync(join(root, 'packages')).filter((name) => {
  const manifest = join(root, 'packages', name, 'package.json')
  return existsSync(manifest) && !JSON.parse(readFileSync(manifest, 'utf8')).private
})

/** The place of a package in its manifest. */
export function placeOf(name) {
  return {
    homepage: `${SITE}packages/${name}`,
    bugs: `${REPOSITORY}/issues`,
    repository: { ...repository, directory: `packages/${name}` },
  }
}

/**
 * The address of what a document links to, so that it can be read outside the repository.
 *
 * @param from folder of the document, in the repository
 * @param link the link as the document has it: `../../docs/options-http.md#key`
 */
export function absolute(from, link) {
  if (/^([a-z]+:|#)/i.test(link)) return link
  const [path, anchor] = link.split('#')
  const file = posix.normalize(posix.join(from, path)).replace(/\/$/, '')
  const page = /^docs\/(.*)\.md$/.exec(file) ?? /^(packages\/[^/]+)(?:\/README\.md)?$/.exec(file)
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (page !== null) return SITE + page[1] + hash
  if (/\.(png|svg)$/.test(file)) return PLACES.PICTURES + file
  const isFolder = statSync(join(root, file)).isDirectory()
  return (isFolder ? PLACES.FOLDERS : PLACES.FILES) + file + hash
}

/** The file of the repository that an address of it shows. Undefined: it is another address. */
export function fileAt(address) {
  const [place] = address.split('#')
  const start = Object.values(PLACES).find((each) => place.startsWith(each))
  if (start !== undefined) return place.slice(start.length)
  if (!place.startsWith(SITE) || place === SITE) return undefined
  const page = place.slice(SITE.length)
  return page.startsWith('packages/') ? `${page}/README.md` : `docs/${page}.md`
}
