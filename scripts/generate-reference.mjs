// Writes the tables of the reference into the documents, from the comments of the types and from the
// definitions of the metrics. `--check` writes nothing and fails if a table is out of date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, exit } from 'node:process'
import { tableAt } from './reference/tables.mjs'
import { root } from './workspace.mjs'

const PLACE = /(<!-- generated: (.+?) -->\n)[\s\S]*?(<!-- \/generated -->)/g

const stale = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => {
    const file = join(root, 'docs', name)
    const text = readFileSync(file, 'utf8')
    const current = text.replace(
      PLACE,
      (_, start, place, end) => `${start}${tableAt(place)}\n${end}`,
    )
    return { file, current, isStale: current !== text }
  })
  .filter(({ isStale }) => isStale)

if (!argv.includes('--check')) {
  for (const { file, current } of stale) writeFileSync(file, current)
} else if (stale.length > 0) {
  const files = stale.map(({ file }) => file).join('\n')
  console.error(`Out of date, run "npm run generate":\n${files}`)
  exit(1)
}
