// A version is published when it is frozen as it is: the versions that follow are tested beside it.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from '@jest/globals'

const workspace = resolve(import.meta.dirname, '../../../..')

const PRINT = `
import { appendFileSync, readdirSync } from 'node:fs'
import { freeze, isFrozen } from './scripts/release/freeze.mjs'
const folder = process.argv[1]
const answers = [await isFrozen(folder)]
await freeze(folder)
answers.push(await isFrozen(folder))
appendFileSync(folder + '/' + readdirSync(folder)[0], ';')
answers.push(await isFrozen(folder))
console.log(JSON.stringify(answers))`

test('a version is frozen from when it is kept until it changes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-frozen-'))
  const args = ['--input-type=module', '--eval', PRINT, folder]
  const output = execFileSync(process.execPath, args, { cwd: workspace, encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  expect(JSON.parse(output)).toEqual([false, true, false])
})
