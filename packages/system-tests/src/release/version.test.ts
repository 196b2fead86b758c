// The pull request of a release, in a copy of what it is made from.

import { execFile } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'

const workspace = resolve(import.meta.dirname, '../../../..')
const run = promisify(execFile)
const foldersIn = (parent: string) =>
  readdirSync(join(workspace, parent)).map((name) => `${parent}/${name}`)
const packages = foldersIn('packages')
const examples = foldersIn('examples')
const script = join(workspace, 'scripts/release/version.mjs')

let copy: string
beforeAll(async () => {
  copy = mkdtempSync(join(tmpdir(), 'sluice-version-'))
  const shared = ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml', 'CHANGELOG.md']
  for (const file of [
    ...shared,
    '.changeset/config.json',
    ...[...packages, ...examples].map(manifest),
  ])
    cpSync(join(workspace, file), join(copy, file))
  await run('git', ['init', '--quiet'], { cwd: copy })
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

function manifest(folder: string): string {
  return `${folder}/package.json`
}

function read(folder: string) {
  return JSON.parse(readFileSync(join(copy, manifest(folder)), 'utf8')) as {
    version: string
    private?: boolean
    dependencies: Record<string, string>
  }
}

function describeChange(name: string, text: string): void {
  mkdirSync(join(copy, '.changeset'), { recursive: true })
  writeFileSync(join(copy, '.changeset', `${name}.md`), text)
}

test('the notes of a version say what it is, with links for any place', async () => {
  const { stdout } = await run(process.execPath, [join(workspace, 'scripts/release/notes.mjs')])
  expect(stdout).toMatch(/^\S.*\n/)
  expect(stdout).not.toMatch(/^## /m)
  expect(stdout).not.toMatch(/\]\((?!https:)/)
})

test('without changesets there is nothing to release', async () => {
  await expect(run(process.execPath, [script], { cwd: copy })).rejects.toThrow('npx changeset')
})

test('all packages get one version, and the changelog says what is in it', async () => {
  const before = read('packages/core').version
  const [major, minor] = before.split('.').map(Number) as [number, number]
  const next = `${major}.${minor + 1}.0`
  const paragraphs = 'A new thing.\n\nWith more to say.'
  describeChange(
    'thing',
    `---\n'@sluice/core': minor\n'@sluice/koa': patch\n---\n\n${paragraphs}\n`,
  )
  describeChange('mistake', "---\n'@sluice/cli': patch\n---\n\nA mistake less.\n")

  await run(process.execPath, [script], { cwd: copy })

  const published = packages.filter((folder) => read(folder).private !== true)
  expect(published.length).toBeGreaterThan(10)
  for (const folder of published) expect([folder, read(folder).version]).toEqual([folder, next])
  const asked = examples.flatMap((folder) =>
    Object.entries(read(folder).dependencies).filter(([name]) => name.startsWith('@sluice/')),
  )
  expect(new Set(asked.map(([, range]) => range))).toEqual(new Set([`^${next}`]))
  const lock = readFileSync(join(copy, 'pnpm-lock.yaml'), 'utf8')
  const locked = lock.match(/(?<='@sluice\/[\w-]+':\n +specifier: )\^.*/g)
  expect(locked).toEqual(asked.map(() => `^${next}`))
  expect(readdirSync(join(copy, '.changeset'))).toEqual(['config.json'])
  const changelog = readFileSync(join(copy, 'CHANGELOG.md'), 'utf8')
  const section = changelog.slice(changelog.indexOf('## '), changelog.indexOf(`## ${before}`))
  expect(section).toBe(`## ${next}

### New

- \`@sluice/core\`, \`@sluice/koa\`: A new thing.

  With more to say.

### Fixed

- \`@sluice/cli\`: A mistake less.

`)
})
