// node scripts/release/imports.mjs FOLDER: how much CPU it takes a process to import an adapter, compared
// with its peer. The folder is that of `npm run release -- --dry-run --project FOLDER`.

import { execFileSync } from 'node:child_process'
import { argv, execPath } from 'node:process'
import { manifestOf } from './packages.mjs'

const PEER = 'express-rate-limit'
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

/** @returns the ms that importing Express's limiter and its peer takes, for each form of a module */
function measureImports(project) {
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

const [, , folder] = argv
const peer = `${PEER}@${manifestOf('bench').devDependencies[PEER]}`
execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', peer], {
  cwd: folder,
})
console.table(measureImports(folder))
