// No example shows a limiter whose key, limit or cost is what a client writes and nobody has checked.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { filesOf, root } from '../files.ts'

const OPTIONS = 'key|user|limit|concurrent|window|anchor|cost|shard|priority'
const FIELD = String.raw`(?:request|req|ctx)\.(?:get|header)\(|\.req\.(?:header|query)\(|headers\b|\bquery\b|\.path\b`
const ITS_OWN = new RegExp(`\\b(?:${OPTIONS}):.*=>.*(?:${FIELD})`)

const documents = filesOf('*.md').filter((file) => !/CHANGELOG|^\.changeset/.test(file))
const examples = filesOf('examples/*.ts', 'examples/*.mjs', 'examples/*.js')

/** The lines of code of a file that take such an option from what the client has written. */
function found(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  const code = file.endsWith('.md') ? [...text.matchAll(/^```.*?^```$/gms)].join('\n') : text
  const lines = code.split('\n').filter((line) => ITS_OWN.test(line))
  return lines.map((line) => `${file}: ${line.trim()}`)
}

test('no example lets a client choose its limit, its cost or its key', () => {
  expect(documents.length + examples.length).toBeGreaterThan(100)
  expect([...documents, ...examples].flatMap(found)).toEqual([])
})

test.each([
  "limit: (request) => (request.get('x-plan') === 'pro' ? 1000 : 100),",
  "key: (c) => c.req.header('x-api-key'),",
  "key: (request) => request.headers['x-api-key'] as string | undefined,",
  "cost: (request) => (request.path === '/report' ? 5 : 1),",
])('such as %s', (line) => {
  expect(ITS_OWN.test(line)).toBe(true)
})
