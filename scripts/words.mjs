// Counts the words that users read (docs, READMEs: the site has the same), and those for contributors.
// Fails above the limits: a page that nobody finishes helps nobody.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exit } from 'node:process'
import { root } from './workspace.mjs'

/** The most words: `page` and `readme` of each file, the others of all files together. */
const LIMITS = { users: 60_000, internals: 8000, page: 3500, readme: 500 }
/** What may be longer: the page of all codes. */
const LONGER = { 'docs/errors.md': 5300 }

const list = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md']
const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).trim().split('\n')
const pages = files
  .filter((file) => existsSync(join(root, file)))
  .map((file) => ({ file, words: wordsIn(readFileSync(join(root, file), 'utf8')) }))
const internals = pages.filter(({ file }) => file.startsWith('docs/internals/'))
const contributing = pages.filter(({ file }) => /^(CONTRIBUTING|scripts\/README)\.md$/.test(file))
const users = pages.filter(
  ({ file }) =>
    /^(docs\/|README\.md$|(examples|packages)\/[^/]+\/README\.md$)/.test(file) &&
    !file.startsWith('docs/internals/'),
)

const sums = { users: sum(users), internals: sum(internals) }
console.log(`For users ${sums.users} words on ${users.length} pages, ${LIMITS.users} at most;`)
console.log(
  `for contributors ${sums.internals} in docs/internals, and ${sum(contributing)} elsewhere.`,
)

const problems = [...users, ...contributing].flatMap(({ file, words }) => {
  const most = LONGER[file] ?? (file.startsWith('packages/') ? LIMITS.readme : LIMITS.page)
  return words > most ? [`${file}: ${words} words, ${most} at most`] : []
})
for (const [name, words] of Object.entries(sums))
  if (words > LIMITS[name]) problems.push(`${name}: ${words} words, ${LIMITS[name]} at most`)
for (const problem of problems) console.error(problem)
if (problems.length > 0) exit(1)

/** Parts with a letter or a digit: the lines of a table have none. */
function wordsIn(text) {
  return text.split(/\s+/).filter((part) => /[\p{L}\p{N}]/u.test(part)).length
}

function sum(pages) {
  return pages.reduce((total, { words }) => total + words, 0)
}
