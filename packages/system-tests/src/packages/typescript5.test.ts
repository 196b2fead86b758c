// Here since it takes long, as all in this folder: TypeScript 5 is itself JavaScript.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { COMPILES_WITHIN, programFolder, writeAllPrograms } from '../readme/programs.ts'
import { diagnose } from './compilers.ts'

const { folder, tsconfig } = programFolder()
const typescript5 = join(__dirname, '../../node_modules/typescript5')

test(
  'every block of every document passes TypeScript 5',
  async () => {
    writeAllPrograms(folder)
    const project = JSON.parse(readFileSync(tsconfig, 'utf8'))
    const node = async (args: string[]) =>
      execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    expect(await diagnose(typescript5, [project], node)).toEqual([[]])
  },
  COMPILES_WITHIN,
)
