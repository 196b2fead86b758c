// The commands that documents, workflows and sources name exist, and scripts/README.md lists them all.

import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { filesOf, root } from '../files.ts'

const read = (file: string) => readFileSync(join(root, file), 'utf8')
const commands = Object.keys(JSON.parse(read('package.json')).scripts)
const index = read('scripts/README.md')
/** Where commands are named. An example is a project of its own, with commands of its own. */
const files = filesOf('*.md', '*.mjs', '*.ts', '*.yml', '.ci/run').filter(
  (file) => !/^(examples|docs\/start)\/|commands\.test\.ts$/.test(file),
)

test('there are eleven, and each is in the list', () => {
  expect(commands).toHaveLength(11)
  for (const name of commands) expect(index).toMatch(new RegExp(`\`npm (run )?${name}( --.*?)?\``))
})

test('each script is in the list', () => {
  for (const file of filesOf(':(glob)scripts/*.mjs')) expect(index).toContain(basename(file))
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
