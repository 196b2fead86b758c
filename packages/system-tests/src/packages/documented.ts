// The code of docs/stores.md and docs/adapters.md, as a reader saves it.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILES = {
  'docs/stores.md': ['store.ts', 'store.test.ts'],
  'docs/adapters.md': ['rate-limit.ts', 'rate-limit.test.ts'],
} as const

/**
 * Writes what each page exports, and the test of it that the page shows.
 * @returns the names of the tests
 */
export function writeDocumented(root: string, folder: string): string[] {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  return Object.entries(FILES).map(([page, [code, test]]) => {
    const markdown = readFileSync(join(root, page), 'utf8')
    const exported = blocksOf(markdown, 'ts').filter((block) => block.includes('export function'))
    writeFileSync(join(folder, code), exported.join('\n'))
    writeFileSync(join(folder, test), blocksOf(markdown, 'ts test').join('\n'))
    return test
  })
}

function blocksOf(markdown: string, language: string): string[] {
  const blocks = markdown.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))
  return [...blocks].map(([, source]) => source as string)
}
