// The tables of the reference in the documents, from the comments of the types and from the
// definitions of the metrics.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../workspace.mjs'
import { tableAt } from './reference-tables/tables.mjs'

const PLACE = /(<!-- generated: (.+?) -->\n)[\s\S]*?(<!-- \/generated -->)/g

/** @returns the documents that have such tables */
export function reference() {
  return readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => [`docs/${name}`, readFileSync(join(root, 'docs', name), 'utf8')])
    .filter(([, text]) => text.search(PLACE) >= 0)
    .map(([file, text]) => [
      file,
      text.replace(PLACE, (_, start, place, end) => `${start}${tableAt(place)}\n${end}`),
    ])
}
