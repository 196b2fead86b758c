// docs/internals/architecture.md is true of the imports: the folders that it draws.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative, sep } from 'node:path'
import { expect, test } from '@jest/globals'
import { filesOf, root } from '../files.ts'

const core = join(root, 'packages/core/src')
const page = readFileSync(join(root, 'docs/internals/architecture.md'), 'utf8')
/** Where each export of the package leads that an adapter imports. */
const ENTRIES: Record<string, string> = {
  '@sluice/core': join(core, 'index.ts'),
  '@sluice/core/internal': join(core, 'internal.ts'),
  '#platform': join(core, 'platform/platform.ts'),
}

/** The files that a source imports, for its types too. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  const statements = /^(?:import|export)[^'";()]*?(?:from )?'([^']+)'|\bimport\('([^']+)'\)/gms
  return [...text.matchAll(statements)].flatMap(([, stated, called]) => {
    const from = stated ?? called
    if (from?.startsWith('.')) return [normalize(join(dirname(file), from))]
    return ENTRIES[from as string] ?? []
  })
}

type Imports = ReadonlyMap<string, readonly string[]>

/** Each TypeScript file under a folder with the files that it imports, for their types too. */
function importsIn(folder: string): Imports {
  const files = filesOf(relative(root, folder))
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('/fixtures/'))
    .map((name) => join(root, name))
  const nameOf = (file: string) => relative(folder, file).split(sep).join('/')
  return new Map(files.map((file) => [nameOf(file), importsOf(file).map(nameOf)]))
}

/** The imports of the topmost folders. What stands beside them, and what only tests need, is left out. */
function foldersOf(imports: Imports): Imports {
  const folders = new Map<string, string[]>()
  const folderOf = (file: string) => file.split('/').slice(0, -1)[0]
  for (const [file, imported] of imports) {
    const from = folderOf(file)
    if (from === undefined || /(^|\/)testing\/|\.test\.tsx?$/.test(file)) continue
    const others = imported.map(folderOf).filter((to) => to !== undefined && to !== from)
    folders.set(from, [...new Set([...(folders.get(from) ?? []), ...(others as string[])])])
  }
  return folders
}

/** Each circle, from where it is entered first. */
function circlesIn(imports: Imports): string[] {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (name: string, way: readonly string[]) => {
    const start = way.indexOf(name)
    if (start >= 0) circles.push([...way.slice(start), name].join(' → '))
    if (start >= 0 || done.has(name)) return
    for (const each of imports.get(name) ?? []) visit(each, [...way, name])
    done.add(name)
  }
  for (const name of imports.keys()) visit(name, [])
  return circles
}

const sourcesOf = (name: string) =>
  filesOf(`packages/${name}/src`)
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|traces\.ts$|\/testing\//.test(file))
    .map((file) => join(root, file))
const sources = sourcesOf('core')

test('each folder of core imports only from those above it', () => {
  const table = page.slice(page.indexOf('## The folders of core'), page.indexOf('## Glossary'))
  const order = [...table.matchAll(/^\| `(\w+)\/` /gm)].map(([, folder]) => folder as string)
  const folderOf = (file: string) => relative(core, file).split(sep)[0] as string
  const folders = new Set(sources.map(folderOf).filter((each) => !each.endsWith('.ts')))
  expect(new Set(order)).toEqual(folders)
  const upward = sources.flatMap((file) =>
    importsOf(file)
      .filter((each) => order.indexOf(folderOf(each)) > order.indexOf(folderOf(file)))
      .filter(() => order.includes(folderOf(file)))
      .map((each) => `${relative(core, file)} → ${relative(core, each)}`),
  )
  expect(upward).toEqual([])
})

test('finds a circle of files and one of folders', () => {
  const imports = new Map([
    ['log/a.ts', ['command/b.ts', 'log/c.ts']],
    ['log/c.ts', []],
    ['command/b.ts', ['log/a.ts']],
    ['command/d.ts', ['log/c.ts']],
  ])
  expect(circlesIn(imports)).toEqual(['log/a.ts → command/b.ts → log/a.ts'])
  expect(circlesIn(foldersOf(imports))).toEqual(['log → command → log'])
})

const packages = readdirSync(join(root, 'packages')).filter((name) =>
  existsSync(join(root, 'packages', name, 'src')),
)

test.each(packages)('no files of %s import each other in a circle', (name) => {
  expect(circlesIn(importsIn(join(root, 'packages', name, 'src')))).toEqual([])
})

// The other packages have files of the same kind in several folders: their entries join them.
test('no folders of the command import each other in a circle', () => {
  const imports = importsIn(join(root, 'packages/cli/src'))
  expect(circlesIn(foldersOf(imports))).toEqual([])
})

/** The libraries that core and http bundle, as the page lists them. */
const bundled = [
  ...page
    .slice(page.indexOf('## What is bundled'), page.indexOf('## Glossary'))
    .matchAll(/^\| `(\w+)` \| `([\w-]+)` \| .{80,} \|$/gm),
].map(([, into, name]) => ({ into, name: name as string }))

test.each(['core', 'http'])('%s bundles one library, and users install none', (name) => {
  const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
  const own = bundled.filter(({ into }) => into === name).map((each) => each.name)
  expect(own).toHaveLength(1)
  expect(Object.keys(manifest.devDependencies)).toEqual(expect.arrayContaining(own))
  const installed = { ...manifest.dependencies, ...manifest.peerDependencies }
  expect(Object.keys(installed)).toEqual(name === 'core' ? [] : ['@sluice/core'])

  const packages = sourcesOf(name).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^(?:import|export)[^'";]*?from '([^']+)'/gms)]
      .map(([, from]) => from as string)
      .filter((from) => !/^([.#]|node:|@sluice\/core)/.test(from)),
  )
  expect(new Set(packages)).toEqual(new Set(own))
})

test('the glossary has fifteen lines', () => {
  const rows = page.slice(page.indexOf('## Glossary')).match(/^\| (?!word|---)/gm)
  expect(rows).toHaveLength(15)
})

test('only the platform of Node needs what Node has', () => {
  const ofNode = /^(?:import|export) (?!type\b)[^'";]*?from '(?:node:|on-headers)/ms
  const found = sources.filter((file) => ofNode.test(readFileSync(file, 'utf8')))
  expect(found.map((file) => relative(core, file))).toEqual([join('platform', 'node.ts')])
})

/** The workspace packages that the sources of a package import, but for its tests. */
function siblingsOf(name: string): string[] {
  const siblings = filesOf(`packages/${name}/src`)
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|\/testing\//.test(file))
    .flatMap((file) => [
      ...readFileSync(join(root, file), 'utf8').matchAll(/ from '@sluice\/([\w-]+)/g),
    ])
  return [...new Set(siblings.map(([, sibling]) => sibling as string))]
}

test('the harness imports no workspace package, the suites only core and http', () => {
  expect(siblingsOf('test-harness')).toEqual([])
  expect(siblingsOf('test-suites').sort()).toEqual(['core', 'http'])
})
