// Checks the prose of the documents: wordy phrases, words said twice, sentences that are hard to read, and
// phrases that readers had to read twice. By retext, because Vale's package downloads its binary from elsewhere.
// Not by its rule for the passive voice: what it finds ("is sent", "is kept") is often the shortest way to say it.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exit } from 'node:process'
import { ensureInstalled } from './install.mjs'
import { root } from './workspace.mjs'

/** Terms of the project and of HTTP, and phrases for which the rule knows nothing better. */
const KEPT = `accurate, address, all of, attempt, combined, contains, delete, determine, effect, equivalent, forward,
function, has no effect, however, identify, immediately, in between, it is, maximum, monitor, not certain,
a number of, option, permit, previous, relative to, request, there are, there is, type`
/** What a native reader stumbled over, and what to write. */
const STUMBLES = [
  [/full house/i, 'overload'],
  [/at which limit/i, 'hitting which limit'],
  [/takes? the same code/i, 'the same code works in'],
  [/ends the process|process ends when/i, 'crashes the process'],
  [/does its work/i, 'is doing its job'],
  [/\bnobody knows\b/i, 'is lost'],
  [/\b(?:are|is) played\b/i, 'runs'],
  [/\bwas tried and\b/i, 'nothing: history is in git'],
]
await ensureInstalled()
const { unified } = await import('unified')
const plugin = async (name) => (await import(name)).default
const prose = unified()
  .use(await plugin('retext-english'))
  // A sentence is hard if five of seven formulas say that it needs more than a school education.
  .use(await plugin('retext-readability'), { age: 18, threshold: 5 / 7, minWords: 12 })
  .use(await plugin('retext-repeated-words'))
  .use(await plugin('retext-simplify'), { ignore: KEPT.split(/,\s/) })
const markdown = unified()
  .use(await plugin('remark-parse'))
  .use(await plugin('remark-gfm'))
  .use(await plugin('remark-retext'), prose)
  .use(function () {
    this.compiler = () => ''
  })

const READ = /^(docs\/|(README|CONTRIBUTING)\.md$|(examples|packages)\/[^/]+\/README\.md$)/
const list = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md']
const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).trim().split('\n')
const problems = []
for (const path of files.filter((file) => READ.test(file))) {
  if (!existsSync(join(root, path))) continue
  const value = readFileSync(join(root, path), 'utf8')
  const { messages } = await markdown.process({ path, value })
  problems.push(...messages.map(({ line, reason }) => `${path}:${line}: ${reason}`))
  for (const [i, line] of value.split('\n').entries())
    for (const [phrase, better] of STUMBLES)
      if (phrase.test(line)) problems.push(`${path}:${i + 1}: write “${better}”, not ${phrase}`)
}
for (const problem of problems) console.error(problem)
if (problems.length > 0) exit(1)
