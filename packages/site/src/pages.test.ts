import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { PAGES } from './pages.ts'
import { root } from './repository.ts'

test('every document is a page, but what is for contributors', () => {
  const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('internals'))
    .map((name) => `docs/${name}`)
  expect(PAGES.map(({ file }) => file)).toEqual(expect.arrayContaining(documents))
})
