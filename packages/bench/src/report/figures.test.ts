import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { FIGURES, toFigures } from './figures.ts'
import type { Results } from './results.ts'

test('each figure is one of the last measurements', () => {
  const file = join(__dirname, '../../../../docs/benchmarks.json')
  const results: Results = JSON.parse(readFileSync(file, 'utf8'))
  for (const [name] of FIGURES) expect(toFigures(results)).toContain(`| ${name} | `)
})
