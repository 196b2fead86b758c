// The commands that documents, workflows and sources name exist, and scripts/README.md lists them all.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from '@jest/globals'

const workspace = resolve(import.meta.dirname, '../../../..')
const read = (file: string) => readFileSync(join(workspace, file), 'utf8')
const commands = Object.keys(JSON.parse(read('package.json')).scripts)
const index = read('scripts/README.md')
/** Where commands are named: an example is a project of its own, with commands of its own. */
const places = readdirSync(join(workspace, 'packages')).map((name) => `packages/${name}/src`)
const files = [
  ...places,
  ...places.map(dirname),
  '.',
  '.ci',
  '.github/workflows',
  'docs',
  'scripts',
]
  .filter((folder) => existsSync(join(workspace, folder)))
  .flatMap((folder) =>
    readdirSync(join(workspace, folder), {
      withFileTypes: true,
      recursive: !/^(\.|packages\/[^/]+)$/.test(folder),
    }),
  )
  .filter((entry) => entry.isFile() && /(\.(md|mjs|ts|yml)|^run)$/.test(entry.name))
  .map((entry) => relative(workspace, join(entry.parentPath, entry.name)))
  .filter((file) => !file.startsWith(join('docs', 'start')) && !file.endsWith('commands.test.ts'))

test('there are ten, and each is in the list', () => {
  expect(commands).toHaveLength(10)
  for (const name of commands) expect(index).toMatch(new RegExp(`\`npm (run )?${name}( --.*?)?\``))
})

test('each script is in the list', () => {
  const scripts = readdirSync(join(workspace, 'scripts')).filter((name) => name.endsWith('.mjs'))
  for (const name of scripts) expect(index).toContain(name)
  for (const [, file] of index.matchAll(/`node (scripts\/[\w./-]+)/g)) read(file as string)
})

test('each command that is named exists', () => {
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/\bnpm run (?:--silent )?([a-z]+(?::[a-z]+)*)/g)].map(
      ([, name]) => `${file}: ${name}`,
    ),
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((each) => !commands.includes(each.split(': ')[1] as string))).toEqual([])
})
