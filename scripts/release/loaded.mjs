// The bytes of code that a process loads before it does anything: what an import or the start of a command
// takes time for, and the same on every machine.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'

/**
 * @param mayFail whether the process may end with an error
 * @returns the bytes of all files of our packages that Node loads as it runs with these arguments, by its coverage
 */
export function loadedBytes(folder, args, { mayFail = false } = {}) {
  const coverage = mkdtempSync(join(folder, '.coverage-'))
  const env = { ...process.env, NODE_V8_COVERAGE: coverage }
  const { status, stderr } = spawnSync(execPath, args, { cwd: folder, env, encoding: 'utf8' })
  if (status !== 0 && !mayFail) throw new Error(stderr)
  const [report] = readdirSync(coverage)
  const { result } = JSON.parse(readFileSync(join(coverage, report), 'utf8'))
  rmSync(coverage, { recursive: true })
  const files = new Set(
    result.map(({ url }) => url).filter((url) => url.includes('/node_modules/@sluice/')),
  )
  return [...files].reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0)
}
