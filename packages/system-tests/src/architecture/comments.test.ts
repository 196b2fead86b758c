// A doc comment is shown alone, in an editor beside a name: it says what the thing is.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { filesOf, root } from '../files.ts'

/** Beginnings of what only continues the comment or the code above it: "Of the keys." */
const FRAGMENT = /(?:\/\*\*\s+(?:\* )?|@param \S+ )(?:behind|beside|by|of|that|the same|those)\b/gi

function fragmentsIn(text: string): string[] {
  return [...text.matchAll(FRAGMENT)].map(({ index }) => text.slice(index, index + 60))
}

test('finds a comment that begins in the middle of a thought', () => {
  const comments = ['The names of the keys.', 'Of the keys.', '@param keys of a cluster']
  const text = comments.map((each) => `/** ${each} */\n/**\n * ${each}\n */\n`).join('')
  expect(fragmentsIn(text)).toHaveLength(4)
})

test('every doc comment can be read alone', () => {
  const sources = filesOf(':(glob)packages/*/src/**')
    .filter((file) => /\.m?tsx?$/.test(file))
    .map((file) => join(root, file))
    .filter((file) => file !== __filename)
  const found = sources.flatMap((file) =>
    fragmentsIn(readFileSync(file, 'utf8')).map((each) => `${file}: ${each}`),
  )
  expect(found).toEqual([])
})
