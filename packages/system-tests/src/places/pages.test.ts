import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const folder = join(__dirname, '../../../../docs/places')
const files = readdirSync(folder)

/** What a reader pastes of a section, and reads of a page. */
const MOST = { lines: 30, words: 500 }

test.each(files)('%s: one screen', (file) => {
  const text = readFileSync(join(folder, file), 'utf8')
  for (const section of text.split(/^(?=## )/m)) {
    const blocks = [...section.matchAll(/^```(?:js|ts)\n(.*?)^```$/gms)]
    const lines = blocks.flatMap(([, code]) => (code as string).trimEnd().split('\n'))
    expect(lines.length).toBeLessThanOrEqual(MOST.lines)
  }
  const prose = text.replace(/^```.*?^```$/gms, '')
  expect(prose.split(/\s+/).length).toBeLessThanOrEqual(MOST.words)
})
