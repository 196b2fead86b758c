// No example shows a limiter whose key, limit or cost is what a client writes and nobody has checked.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { filesOf, root } from '../files.ts'

/** Options that say who a client is or what it may do, as they begin in code. */
const OPTION = /\b(key|user|limit|concurrent|window|anchor|cost|shard|priority|skip):/g
const WRITTEN =
  /\b(?:request|req|ctx)\.(?:get|header)\(|\.req\.(?:header|query|param)\(|\b(?:headers|query|cookies)\b/
/** One of many spellings, of which others may reach the same route. Who exempts only one of them lets nobody through. */
const SPELLING = /\.path\b/
/** What a client writes, too. It may say what a request costs and which account it asks for, not how much it may have. */
const SENT = /\b(?:body|params|url)\b/
const ALLOWANCES = /^(?:limit|concurrent|window|anchor|priority)$/

const documents = filesOf('*.md').filter((file) => !/CHANGELOG|^\.changeset/.test(file))
const examples = filesOf('examples/*.ts', 'examples/*.mjs', 'examples/*.js')

/** The options of a file that a function takes from what the client has written. */
function found(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  const code = file.endsWith('.md') ? [...text.matchAll(/^```.*?^```$/gms)].join('\n') : text
  return chosenByClients(code).map((option) => `${file}: ${option}`)
}

function chosenByClients(code: string): string[] {
  return [...code.matchAll(OPTION)].flatMap((match) => {
    const [whole, option] = match as unknown as [string, string]
    const value = valueAt(code, match.index + whole.length)
    if (!/=>|\bfunction\b/.test(value)) return []
    const isChosen =
      WRITTEN.test(value) ||
      (option !== 'skip' && SPELLING.test(value)) ||
      (ALLOWANCES.test(option) && SENT.test(value))
    return isChosen ? [whole + value] : []
  })
}

/** The expression that begins at a place: up to the comma or the bracket that ends it. */
function valueAt(code: string, start: number): string {
  let depth = 0
  let end = start
  for (; end < code.length; end += 1) {
    const character = code[end] as string
    if ('([{'.includes(character)) depth += 1
    if (')]}'.includes(character)) depth -= 1
    if (depth < 0 || (depth === 0 && character === ',')) break
  }
  return code.slice(start, end)
}

test('no example lets a client choose its limit, its cost or its key', () => {
  expect(documents.length + examples.length).toBeGreaterThan(100)
  expect([...documents, ...examples].flatMap(found)).toEqual([])
})

test.each([
  "limit: (request) => (request.get('x-plan') === 'pro' ? 1000 : 100),",
  "limit: (request) => {\n  const plan = request.get('x-plan')\n  return plan === 'pro' ? 1000 : 100\n},",
  "limit: ({ body }) => (body.plan === 'pro' ? 1000 : 100),",
  'window: ({ params }) => params.window,',
  "key: (c) => c.req.header('x-api-key'),",
  "key: (request) => request.headers['x-api-key'] as string | undefined,",
  'key: ({ cookies }) => cookies.session,',
  "cost: (request) => (request.path === '/report' ? 5 : 1),",
  "skip: ({ headers }) => headers['x-internal'] === '1',",
])('such as %s', (code) => {
  expect(chosenByClients(`rateLimit({ ${code} })`)).toHaveLength(1)
})

test.each([
  "key: 'user', limit: (request) => limitOf(request.user),",
  'cost: ({ body }) => estimateTokens(body.messages),',
  'limit: 100, onDecision: (decision, request) => log(request.path),',
])('not %s', (code) => {
  expect(chosenByClients(`rateLimit({ ${code} })`)).toEqual([])
})
