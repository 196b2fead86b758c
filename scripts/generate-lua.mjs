// Writes every `x.lua` of the core into `x.lua.generated.ts` next to it, so that published code
// needs no file system and no loader. `--check` writes nothing, and fails if one is out of date.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const sources = fileURLToPath(new URL('../packages/core/src', import.meta.url))
const checking = process.argv.includes('--check')
const stale = []

for (const name of readdirSync(sources, { recursive: true })) {
  if (!name.endsWith('.lua')) continue
  const target = join(sources, `${name}.generated.ts`)
  const text = generated(name.replace(/^.*[/\\]/, ''), readFileSync(join(sources, name), 'utf8'))
  if (existsSync(target) && readFileSync(target, 'utf8') === text) continue
  if (checking) stale.push(target)
  else writeFileSync(target, text)
}

if (stale.length > 0) {
  console.error(`Out of date, run "npm run generate":\n${stale.join('\n')}`)
  process.exit(1)
}

function generated(name, lua) {
  const literal = lua.replace(/[\\`]|\$\{/g, '\\$&')
  return `// Generated from ${name} by scripts/generate-lua.mjs. Do not edit.\nexport default \`${literal}\`\n`
}
