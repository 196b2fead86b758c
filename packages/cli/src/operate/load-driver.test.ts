import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from '@jest/globals'
import { scratch } from '@sluice/test-harness/jest'

const { folder } = scratch()

/** The names of what `loadDriver` finds, or its message, in a process of its own: Jest finds modules in its own way. */
function loaded(driver: string, places: readonly string[]): string {
  const module = JSON.stringify(join(__dirname, 'load-driver.ts'))
  const script = `import(${module})
    .then(({ loadDriver }) => Object.keys(loadDriver('--flag', ${JSON.stringify(driver)}, ${JSON.stringify(places)})).join())
    .catch(({ message }) => message)
    .then(console.log)`
  const args = ['--import', pathToFileURL(require.resolve('tsx')).href, '-e', script]
  // A script of a package manager may have set it.
  const env = { ...process.env, NODE_PATH: '' }
  return execFileSync(process.execPath, args, { encoding: 'utf8', env })
}

test("a driver is the project's, and if it is missing, the message says how to get it", () => {
  const inner = join(folder, 'project/node_modules/pg')
  const [project, elsewhere] = [join(folder, 'project/package.json'), join(folder, 'package.json')]
  mkdirSync(inner, { recursive: true })
  writeFileSync(join(inner, 'index.js'), "exports.own = 'of the project'")
  expect(loaded('pg', [project, __filename])).toBe('own\n')
  expect(loaded('pg', [elsewhere, __filename])).toContain('Pool')
  expect(loaded('pg', [elsewhere])).toMatch(/^--flag needs the package pg: npm install pg/)
  expect(loaded('mysql2/promise', [elsewhere, __filename])).toContain('createPool')
  expect(loaded('mysql2/promise', [elsewhere])).toMatch(/ the package mysql2: npm install mysql2/)
})
