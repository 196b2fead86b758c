import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { FIGURES, toFigures } from './figures.ts'
import { GOALS, judge } from './goals.ts'
import type { Results } from './results.ts'

const file = join(__dirname, '../../../../docs/benchmarks.json')
const results: Results = JSON.parse(readFileSync(file, 'utf8'))

test('each figure is one of the last measurements', () => {
  for (const [name] of FIGURES) expect(toFigures(results)).toContain(`| ${name} | `)
})

test('so is each goal, but for those of Hono, which came later', () => {
  const older = GOALS.filter(({ work }) => !work.startsWith('Hono'))
  expect(judge(results.measurements)).toHaveLength(older.length)
})
