// The licences of what is bundled have to stand beside it.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAllowed } from '../licences.mjs'

/** @param libraries the folders of the libraries that are bundled */
export function writeLicences(file, libraries) {
  if (libraries.size === 0) return
  const sections = [...libraries].sort().map((library) => {
    const { name, version, license } = JSON.parse(
      readFileSync(join(library, 'package.json'), 'utf8'),
    )
    if (!isAllowed(license)) throw new Error(`${name} has the licence ${license}`)
    const file = readdirSync(library).find((each) => /^licen[cs]e/i.test(each))
    if (file === undefined) throw new Error(`${name} has no text of its licence`)
    return `${name} ${version} (${license})\n\n${readFileSync(join(library, file), 'utf8').trim()}\n`
  })
  writeFileSync(file, sections.join(`\n${'-'.repeat(72)}\n\n`))
}
