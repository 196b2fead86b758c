import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { PAGES } from './pages.ts'
import { root } from './repository.ts'

test('every document is a page', () => {
  const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
  expect(PAGES.map(({ file }) => file)).toEqual(expect.arrayContaining(documents))
})
