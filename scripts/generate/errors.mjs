// docs/errors.md, whose words are written there: fills in what misuse throws as examples, and what to do about the
// set-up of a store, which its messages say too.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../workspace.mjs'
import { core, source } from './core.mjs'

const { misuses } = await source('http/src/testing/misuses.ts')
const { REDIS_ACTIONS } = await core('stores/redis/setup-actions.ts')
const { POSTGRES_ACTIONS } = await source('postgres/src/setup-actions.ts')
const { MYSQL_ACTIONS } = await source('mysql/src/setup-actions.ts')
const { DYNAMODB_ACTIONS } = await source('dynamodb/src/setup-actions.ts')
const { SQLITE_ACTIONS } = await source('sqlite/src/setup-actions.ts')
const SETUP_ACTIONS = {
  ...REDIS_ACTIONS,
  ...POSTGRES_ACTIONS,
  ...MYSQL_ACTIONS,
  ...DYNAMODB_ACTIONS,
  ...SQLITE_ACTIONS,
}

/** Of each code: more of them say the same of other options. */
const MOST_EXAMPLES = 6
const examples = new Map()
/** What is said to do about other options too is shown once for each code. */
const shown = new Set()
for (const [written, call] of misuses) {
  const { code, message, option = '', fix = message } = thrown(call)
  const advice = `${code} ${fix.replaceAll(option, '').replace(/\d+/g, '')}`
  if (shown.has(advice) || examples.get(code)?.length === MOST_EXAMPLES) continue
  shown.add(advice)
  const cells = [`\`${written}\``, message.split(/ (?:Expected|Received) | \(SLUICE_/, 1)[0]]
  const row = `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  examples.set(code, [...(examples.get(code) ?? []), row])
}

const PAGE = 'docs/errors.md'
const TABLE = '| written | the message begins with |\n|---|---|'

export function errors() {
  const parts = readFileSync(join(root, PAGE), 'utf8').split(/^(?=##)/m)
  const explained = parts.flatMap((part) => codeOf(part) ?? [])
  const types = readFileSync(join(root, 'packages/core/src/errors/codes.ts'), 'utf8')
  const known = types.match(/SLUICE_\w+/g) ?? []
  if (`${known.sort()}` !== `${explained.sort()}`)
    throw new Error(`${PAGE} explains ${explained}; the codes are ${known}`)
  return [[PAGE, `${parts.map((part) => filled(part.trimEnd())).join('\n\n')}\n`]]
}

function codeOf(part) {
  return /^### (SLUICE_\w+)/.exec(part)?.[1]
}

/** The part of a code with its action and its table. */
function filled(part) {
  const code = codeOf(part)
  const [words] = part.split(`\n\n${TABLE}`)
  const action = SETUP_ACTIONS[code]
  const text =
    action === undefined ? words : words.replace(/(?<=^\*\*What to do:\*\* ).*/m, () => action)
  const rows = examples.get(code)
  return rows === undefined ? text : `${text}\n\n${[TABLE, ...rows].join('\n')}`
}

function thrown(call) {
  try {
    return call()
  } catch (error) {
    return error
  }
}
