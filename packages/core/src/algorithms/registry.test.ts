import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { areSame, formOf } from './algorithm.ts'
import { ALGORITHM_NAMES, algorithms } from './index.ts'

const root = join(__dirname, '../../../..')

function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** Packages that are tests throughout. */
const TESTS = /^(test-|system-)/

/** Sources that run or are published: no generated files, no tests, nothing that only tests use. */
function sources(): string[] {
  const packages = readdirSync(join(root, 'packages')).filter((name) => !TESTS.test(name))
  return packages.flatMap((name) => {
    const folder = join('packages', name, 'src')
    return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter(
        (file) => /\.(ts|tsx|css)$/.test(file) && !/\.test\.|\.generated\.|testing\//.test(file),
      )
      .map((file) => join(folder, file))
  })
}

describe('an algorithm is one folder and one line', () => {
  test.each(ALGORITHM_NAMES)('%s has the name under which it is registered', (name) => {
    expect(algorithms[name].name).toBe(name)
  })

  test.each(ALGORITHM_NAMES)('a limit of %s has two forms, each of which is one object', (name) => {
    const limit = algorithms[name].compile({ limit: 10, windowMs: 1000 })
    const dryRun = formOf(limit, false)
    expect([limit.refuses, dryRun.refuses]).toEqual([true, false])
    expect(formOf(limit, false)).toBe(dryRun)
    expect(formOf(dryRun, true)).toBe(limit)
    expect(areSame(limit, dryRun)).toBe(true)
  })

  test('no other source lists the algorithms', () => {
    const listing = sources().filter((file) => {
      const text = textOf(file).replace(/^import .*$/gm, '')
      return ALGORITHM_NAMES.filter((name) => text.includes(name)).length > 2
    })
    expect(listing).toEqual([
      'packages/core/src/algorithms/index.ts',
      // How the demo knows and draws each: the compiler asks for one that is missing.
      'packages/live/src/page/algorithms/models.ts',
      'packages/live/src/page/algorithms/views.tsx',
      // What another limiter calls them.
      'packages/migrate/src/peers/upstash.ts',
      // What the simulator makes wrong, draws, and knows the bounds of.
      'packages/simulation/src/draw-leases.ts',
      'packages/simulation/src/draw-plan.ts',
      'packages/simulation/src/plan.ts',
      'packages/simulation/src/checks/bound.ts',
      // Which limits and windows its histories of real stores use.
      'packages/simulation/src/histories/keys.ts',
      // The colours.
      'packages/ui/src/tokens.css',
    ])
  })

  test('the table of docs/algorithms.md has a row for each, and for nothing else', () => {
    const text = textOf('docs/algorithms.md')
    const [, table = ''] = /^\| algorithm \|[^\n]*\n\|[-| ]+\|\n((?:\|[^\n]*\n)+)/m.exec(text) ?? []
    const rows = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name)
    expect(rows.sort()).toEqual([...ALGORITHM_NAMES].sort())
  })

  test.each(ALGORITHM_NAMES)(
    'the theme has a colour for %s, in the light and in the dark',
    (name) => {
      expect(
        textOf('packages/ui/src/tokens.css').match(new RegExp(`--${name}: #`, 'g')),
      ).toHaveLength(2)
    },
  )
})
