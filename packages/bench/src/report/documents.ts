// The files of the repository that show the results.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toChart } from './chart.ts'
import { toClaims } from './claims.ts'
import { toFigures } from './figures.ts'
import type { Results } from './results.ts'
import { goalTable } from './tables.ts'

/** The results themselves; the others are made of them. */
export const RESULTS = 'docs/benchmarks.json'
/** The page with the goals. */
const GOALS = 'docs/internals/figures.md'

const [FROM, TO] = ['<!-- bench: made by npm run bench -->', '<!-- /bench -->']
/** The part of a document that is made. */
const MADE = new RegExp(`(?<=${FROM})[\\s\\S]*(?=${TO})`)

export function readResults(root: string): Results {
  return JSON.parse(readFileSync(join(root, RESULTS), 'utf8'))
}

/** The text of every file that shows the results, by its path. */
export function documents(results: Results, root: string): { readonly [path: string]: string } {
  return {
    [RESULTS]: `${JSON.stringify(results, null, 2)}\n`,
    'docs/benchmarks.svg': toChart(results),
    'docs/benchmarks-narrow.svg': toChart(results, 1),
    'docs/benchmarks-redis.svg': toChart({ ...results, measurements: onRedis(results) }, 1),
    'docs/performance.md': filled(root, 'docs/performance.md', toFigures(results)),
    [GOALS]: filled(root, GOALS, `\n${goalTable(results.measurements)}\n`),
    'README.md': filled(root, 'README.md', toClaims(results)),
  }
}

/** The results on the first page: a request alone, and requests that share a call. */
function onRedis({ measurements }: Results): Results['measurements'] {
  return measurements.filter(({ title }) => /^CPU of Node, (one|50) request/.test(title))
}

export function writeDocuments(results: Results, root: string): void {
  for (const [path, text] of Object.entries(documents(results, root))) {
    writeFileSync(join(root, path), text)
  }
}

function filled(root: string, path: string, made: string): string {
  const text = readFileSync(join(root, path), 'utf8')
  if (!MADE.test(text)) throw new Error(`${path} has no ${FROM} and ${TO}`)
  return text.replace(MADE, () => made)
}
