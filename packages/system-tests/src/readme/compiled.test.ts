import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from '@jest/globals'
import { root } from '../files.ts'
import { COMPILES_WITHIN, programFolder, writeAllPrograms } from './programs.ts'

const { folder } = programFolder()

// packages/typescript5.test.ts compiles them with TypeScript 5.
test(
  'every block of every document passes TypeScript 7',
  async () => {
    writeAllPrograms(folder)
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const compiled = promisify(execFile)(process.execPath, [tsc, '-p', folder])
    expect((await compiled.catch((error) => error)).stdout).toBe('')
  },
  COMPILES_WITHIN,
)
