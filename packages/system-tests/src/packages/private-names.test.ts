// The short names that the build gives to private members: the compiler finds each place that names one.

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from '@jest/globals'

const workspace = resolve(import.meta.dirname, '../../../..')
const core = join(workspace, 'packages/core')

/** Renames the members in all sources of a folder, and prints in how many. */
const RENAME = `
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { withShortPrivates } from './scripts/bundle/private-names.mjs'
let changed = 0
for (const file of readdirSync(process.argv[1], { recursive: true })) {
  if (!file.endsWith('.ts')) continue
  const path = process.argv[1] + '/' + file
  const source = readFileSync(path, 'utf8')
  const short = withShortPrivates(source)
  if (short !== source) changed += 1
  writeFileSync(path, short)
}
console.log(changed)`

test('the sources of core compile with them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-private-'))
  try {
    cpSync(join(core, 'src'), join(folder, 'src'), {
      recursive: true,
      filter: (path) => !/\.test\.ts$|\/testing$|\/traces\.ts$/.test(path),
    })
    cpSync(join(core, 'package.json'), join(folder, 'package.json'))
    symlinkSync(join(core, 'node_modules'), join(folder, 'node_modules'))
    const rename = ['--input-type=module', '--eval', RENAME, join(folder, 'src')]
    const changed = execFileSync(process.execPath, rename, { cwd: workspace, encoding: 'utf8' })
    expect(Number(changed)).toBeGreaterThan(20)
    const compilerOptions = { typeRoots: [join(workspace, 'node_modules/@types')], noEmit: true }
    const base = join(workspace, 'tsconfig.base.json')
    const config = { extends: base, compilerOptions, include: ['src'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    expect(compilerErrors(folder)).toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

function compilerErrors(folder: string): string[] {
  const tsc = join(workspace, 'node_modules/.bin/tsc')
  const { stdout } = spawnSync(tsc, [], { cwd: folder, encoding: 'utf8' })
  return stdout.split('\n').filter((line) => line.includes('error TS'))
}
