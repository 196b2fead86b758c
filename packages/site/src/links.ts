import { existsSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path/posix'
import { FILES, FOLDERS, SITE } from '@sluice/ui/addresses'
import { PAGES, pathOf } from './pages.ts'
import { root } from './repository.ts'

const pathOfFile = new Map(PAGES.map((page) => [page.file, pathOf(page)]))

/**
 * Where a link of a document leads on the site, so that the documents can link to each other as files.
 *
 * @param from the document: a path in the repository
 * @param href the link as the document has it
 * @returns another page as `/path#anchor`, also if the document has its address; any other file of the
 *   repository as its address there
 * @throws Error if there is no such file
 */
export function onSite(from: string, href: string): string {
  if (href.startsWith(SITE)) return `/${href.slice(SITE.length)}`
  if (/^([a-z]+:|#|\/)/i.test(href)) return href
  const [, path = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(href) as RegExpExecArray
  const file = normalize(join(dirname(from), path)).replace(/\/$/, '')
  const page = pathOfFile.get(file) ?? pathOfFile.get(join(file, 'README.md'))
  if (page !== undefined) return `/${page}${anchor}`
  if (file.startsWith('..') || !existsSync(join(root, file)))
    throw new Error(`${from} links to ${href}, which does not exist`)
  const isFolder = statSync(join(root, file)).isDirectory()
  return (isFolder ? FOLDERS : FILES) + file + anchor
}
