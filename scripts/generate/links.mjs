// Links of the documents to files and headings of the repository, as GitHub shows them.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import GithubSlugger from 'github-slugger'
import { fileAt } from '../addresses.mjs'
import { root } from '../workspace.mjs'

/** All links of all documents that lead nowhere, each with its document. */
export function deadLinks() {
  const list = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  const documents = list.split('\n').filter((file) => existsSync(join(root, file)) && file !== '')
  return documents.flatMap((file) => {
    // A changeset becomes a part of the changelog.
    const from = file.replace(/^\.changeset\//, '')
    const links = deadLinksOf(from, readFileSync(join(root, file), 'utf8'))
    return links.map((link) => `${file}: ${link}`)
  })
}

/** @param from path of the document in the repository */
export function deadLinksOf(from, markdown) {
  return linksOf(markdown).filter((link) => {
    const [path, anchor] = link.split('#')
    const target = targetOf(from, path)
    if (target === undefined) return false
    if (target === from) return !anchorsOf(markdown).has(decodeURIComponent(anchor))
    const file = join(root, target)
    if (!existsSync(file)) return true
    if (anchor === undefined) return false
    const document = statSync(file).isDirectory() ? join(file, 'README.md') : file
    return !anchorsOf(readFileSync(document, 'utf8')).has(decodeURIComponent(anchor))
  })
}

/** The path in the repository that a link leads to. Undefined: it leads elsewhere. */
function targetOf(from, path) {
  if (path === '') return from
  if (/^[a-z]+:/i.test(path)) return fileAt(path)
  return posix.normalize(posix.join(posix.dirname(from), path))
}

function linksOf(markdown) {
  const text = withoutBlocks(markdown).replace(/`[^`\n]+`/g, '')
  const inText = text.matchAll(/\]\(([^()\s]+)(?: "[^"]*")?\)/g)
  const inTags = text.matchAll(/\b(?:src|srcset|href)="([^"]+)"/g)
  return [...inText, ...inTags].map(([, link]) => link)
}

/** The anchors that GitHub gives to headings, and those that the document itself has. */
function anchorsOf(markdown) {
  const slugger = new GithubSlugger()
  const text = withoutBlocks(markdown)
  const headings = [...text.matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading]) => heading)
  const slugs = headings.map((heading) => slugger.slug(heading.replace(/\[(.*?)\]\(.*?\)/g, '$1')))
  return new Set([...slugs, ...[...text.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id)])
}

/** Leaves out blocks of code, where a bracket is no link and `#` no heading. */
function withoutBlocks(markdown) {
  return markdown.replace(/^( *)(`{3,}).*?^\1\2 *$/gms, '')
}
