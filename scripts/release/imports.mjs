// node scripts/release/imports.mjs FOLDER: how much CPU it takes a process to import an adapter, compared
// with its peer. The folder is that of `npm run release -- --dry-run --project FOLDER`.

import { execFileSync } from 'node:child_process'
import { argv, execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { manifestOf } from './packages.mjs'

const PEER = 'express-rate-limit'
const MOST = 1.3
/** The shortest of so many is what the import itself takes. */
const ROUNDS = 15

const FORMS = {
  ESM: (name) => ['--input-type=module', '--eval', measured(`await import('${name}')`)],
  CommonJS: (name) => ['--eval', measured(`require('${name}')`)],
}

function measured(load) {
  return `const before = process.cpuUsage(); ${load}; const { user, system } = process.cpuUsage(before)
    console.log((user + system) / 1000)`
}

/** What the measurement needs besides the packages. */
export const IMPORT_PEER = `${PEER}@${manifestOf('bench').devDependencies[PEER]}`

/** @returns the ms that importing Express's limiter and its peer takes, for each form of a module */
export function measureImports(project) {
  return Object.entries(FORMS).map(([form, args]) => {
    const best = { '@sluice/express': Infinity, [PEER]: Infinity }
    for (let round = 0; round < ROUNDS; round += 1)
      for (const name of Object.keys(best)) {
        const ms = Number(execFileSync(execPath, args(name), { cwd: project, encoding: 'utf8' }))
        best[name] = Math.min(best[name], ms)
      }
    return { form, ...best }
  })
}

/** @returns one line for each form that takes too long */
export function tooSlow(imports) {
  return imports
    .filter((times) => times['@sluice/express'] > MOST * times[PEER])
    .map((times) => `@sluice/express: imports as ${JSON.stringify(times)}, at most ${MOST} times`)
}

if (argv[1] === fileURLToPath(import.meta.url)) console.table(measureImports(argv[2]))
