// docs/architecture.md is true of the imports: the main path, and the folders that it draws.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative, sep } from 'node:path'
import { expect, test } from '@jest/globals'

const root = join(__dirname, '../../../..')
const core = join(root, 'packages/core/src')
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
/** Where each export of the package leads that an adapter imports. */
const ENTRIES: Record<string, string> = {
  '@sluice/core': join(core, 'index.ts'),
  '@sluice/core/adapter': join(core, 'adapter.ts'),
  '#platform': join(core, 'platform/platform.ts'),
}

/** The files that a source imports, for its types too. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/^(?:import|export)[^'";]*?from '([^']+)'/gms)].flatMap(([, from]) => {
    if (from?.startsWith('.')) return [normalize(join(dirname(file), from))]
    return ENTRIES[from as string] ?? []
  })
}

const sources = readdirSync(core, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/\.test\.ts$|traces\.ts$|(^|\/)testing\//.test(name))
  .map((name) => join(core, name))

test('the main path is at most 15 files, each imported on the way to it', () => {
  const path = [...page.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file]) =>
    join(root, file as string),
  )
  expect(path.length).toBeGreaterThan(10)
  expect(path.length).toBeLessThanOrEqual(15)
  const reached = new Set<string>()
  for (const [i, file] of path.entries()) {
    if (i > 0) expect([...reached]).toContain(file)
    // What runs for a request was put together before: at most two files lie between.
    const near = importsOf(file)
    const next = near.flatMap(importsOf)
    for (const each of [...near, ...next, ...next.flatMap(importsOf)]) reached.add(each)
  }
})

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

test('no files of core import each other in a circle', () => {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, way: readonly string[]) => {
    if (way.includes(file)) {
      circles.push(
        [...way.slice(way.indexOf(file)), file].map((each) => relative(core, each)).join(' → '),
      )
      return
    }
    if (done.has(file)) return
    for (const each of importsOf(file)) visit(each, [...way, file])
    done.add(file)
  }
  for (const file of sources) visit(file, [])
  expect(circles).toEqual([])
})

test('core has at most three dependencies, and the page says why it has each', () => {
  const section = page.slice(page.indexOf('## What core depends on'), page.indexOf('## Glossary'))
  const rows = [...section.matchAll(/^\| `([\w-]+)` \| .{80,} \|$/gm)]
  const manifest = JSON.parse(readFileSync(join(core, '../package.json'), 'utf8'))
  expect(Object.keys(manifest.dependencies)).toEqual(rows.map(([, name]) => name))
  expect(rows.length).toBeLessThanOrEqual(3)
  expect(manifest).not.toHaveProperty('peerDependencies')
  expect(manifest).not.toHaveProperty('optionalDependencies')
})

test('core imports no package but its dependencies', () => {
  const manifest = JSON.parse(readFileSync(join(core, '../package.json'), 'utf8'))
  const packages = sources.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^(?:import|export)[^'";]*?from '([^']+)'/gms)]
      .map(([, from]) => from as string)
      .filter((from) => !/^([.#]|node:)/.test(from)),
  )
  expect(new Set(packages)).toEqual(new Set(Object.keys(manifest.dependencies)))
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

/** The workspace packages that the sources of a package import. */
function siblingsOf(name: string): string[] {
  const folder = join(root, 'packages', name, 'src')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const siblings = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...readFileSync(join(folder, file), 'utf8').matchAll(/ from '@sluice\/([\w-]+)/g),
    ])
  return [...new Set(siblings.map(([, sibling]) => sibling as string))]
}

test('the harness imports no workspace package, the suites only core', () => {
  expect(siblingsOf('test-harness')).toEqual([])
  expect(siblingsOf('test-suites')).toEqual(['core'])
})
