// node scripts/try-clients.mjs: tests the budgets with the newest clients of language models that npm has, and says what
// has changed: their versions, and the fields that they know of requests and answers. It changes the manifest and the
// lock file: for CI, or a clone of its own.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setUpTests } from './setup.mjs'
import { root, run } from './workspace.mjs'

/** The clients, each with the declarations of what an answer says of its usage, and of what a request may ask for. */
const CLIENTS = {
  openai: [
    'resources/completions.d.ts',
    'resources/chat/completions/completions.d.ts',
    'resources/responses/responses.d.ts',
  ],
  '@anthropic-ai/sdk': [
    'resources/messages/messages.d.ts',
    'resources/beta/messages/messages.d.ts',
  ],
  ai: [],
  '@ai-sdk/openai': [],
  '@openai/agents': [],
}
const names = Object.keys(CLIENTS)
const folder = join(root, 'packages/budget')

const env = await setUpTests(false)
const before = names.map(stateOf)
const newest = names.map(
  (name) =>
    `${name}@${execFileSync('npm', ['view', name, 'version'], { encoding: 'utf8', cwd: root }).trim()}`,
)
const add = ['scripts/pnpm.mjs', '--filter', '@sluice/budget', 'add', '-D', '-E', ...newest]
if ((await run(process.execPath, add)) !== 0) process.exit(1)
for (const [i, name] of names.entries()) {
  const [old, now] = [before[i], stateOf(name)]
  console.log(
    `${name}: ${old.version === now.version ? old.version : `${old.version} → ${now.version}`}`,
  )
  for (const [sign, some, others] of [
    ['+', now, old],
    ['-', old, now],
  ]) {
    const fields = [...some.fields].filter((field) => !others.fields.has(field))
    if (fields.length > 0) console.log(`  ${sign} ${fields.sort().join(' ')}`)
  }
}
const tests = ['packages/budget/src/(clients|request|tools|usage).test']
// The AI SDK is ESM since 7, which Jest's modules can require on Node 24.9 with this.
const modules = { NODE_OPTIONS: '--experimental-vm-modules' }
process.exit(await run('jest', tests, { env: { ...env, ...modules } }))

/** The version that is installed, and the names of all fields in its declarations. */
function stateOf(name) {
  const textOf = (file) => readFileSync(join(folder, 'node_modules', name, file), 'utf8')
  const files = CLIENTS[name].filter((file) => existsSync(join(folder, 'node_modules', name, file)))
  const fields = files.flatMap((file) => [...textOf(file).matchAll(/^ +(\w+)\??: /gm)])
  const { version } = JSON.parse(textOf('package.json'))
  return { version, fields: new Set(fields.map(([, field]) => field)) }
}
