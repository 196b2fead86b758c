// Where the project is found. The root package.json alone says it.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { root } from './workspace.mjs'

const { homepage, repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Of the documentation. It ends with a slash. */
export const SITE = homepage
/** Of the repository, as people read it. */
export const REPOSITORY = repository.url.replace(/^git\+|\.git$/g, '')
const FILES = REPOSITORY.replace('//github.com/', '//raw.githubusercontent.com/')

/** The folders in packages that are published, by their names. */
export const published = readdirSync(join(root, 'packages')).filter((name) =>
  existsSync(join(root, 'packages', name, 'tsconfig.build.json')),
)

/** What the manifest of a package says of its place. */
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
 * @param link as the document has it: `../../docs/options.md#key`
 */
export function absolute(from, link) {
  if (/^([a-z]+:|#)/i.test(link)) return link
  const [path, anchor] = link.split('#')
  const file = posix.normalize(posix.join(from, path)).replace(/\/$/, '')
  const page = /^docs\/(.*)\.md$/.exec(file) ?? /^(packages\/[^/]+)(?:\/README\.md)?$/.exec(file)
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (page !== null) return SITE + page[1] + hash
  if (/\.(png|svg)$/.test(file)) return `${FILES}/main/${file}`
  const kind = statSync(join(root, file)).isDirectory() ? 'tree' : 'blob'
  return `${REPOSITORY}/${kind}/main/${file}${hash}`
}

/** The file of the repository that an address of it shows. Undefined: it is another address. */
export function fileAt(address) {
  const [place] = address.split('#')
  if (place.startsWith(`${FILES}/main/`)) return place.slice(FILES.length + '/main/'.length)
  const inRepository = /^\/(?:tree|blob)\/main\/(.*)$/.exec(place.slice(REPOSITORY.length))
  if (place.startsWith(REPOSITORY)) return inRepository?.[1]
  if (!place.startsWith(SITE) || place === SITE) return undefined
  const page = place.slice(SITE.length)
  return page.startsWith('packages/') ? `${page}/README.md` : `docs/${page}.md`
}
