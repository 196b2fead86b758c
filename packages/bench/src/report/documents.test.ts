import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { sampleResults } from './testing/sample-results.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  mkdirSync(join(root, 'docs'))
})
afterEach(() => rmSync(root, { recursive: true }))

const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

/** Writes the documents of the folder, which has these files. */
async function render(files: { readonly [path: string]: string }): Promise<void> {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text)
  const script = join(__dirname, 'testing/write-documents.ts')
  await promisify(execFile)(process.execPath, ['--import', 'tsx', script, root], { cwd: __dirname })
}

function cellsOf(path: string): string[][] {
  const lines = textOf(path).split('\n')
  return lines.map((line) => line.split('|').map((cell) => cell.trim()))
}

const FROM = '<!-- bench: made by npm run bench -->'
const TO = '<!-- /bench -->'

describe('the documents', () => {
  const files = {
    'README.md': `Fast. ${FROM}old${TO} See.\n`,
    'docs/performance.md': `before\n${FROM}\nold\n${TO}\nafter\n`,
    'docs/benchmarks.json': JSON.stringify(sampleResults),
  }

  it('show the results', async () => {
    await render(files)
    expect(JSON.parse(textOf('docs/benchmarks.json'))).toEqual(sampleResults)
    expect(textOf('docs/benchmarks.svg')).toMatch(/^<svg[\s\S]*<\/svg>\n$/)
    expect(textOf('docs/benchmarks.md')).toMatch(/<summary>One count in memory<\/summary>\n\n\|/)
    const cells = cellsOf('docs/benchmarks.md')
    expect(cells).toContainEqual(['', 'peer', '200', '190', '± 0', '2.00 ×', ''])
    expect(cells).toContainEqual(['', 'like us', '90', '60', '± 10', 'not distinguishable', ''])
    const goals = cellsOf('docs/performance.md').filter((row) => row.length > 1)
    expect(goals.slice(2).map((row) => row.slice(1, -1))).toEqual([
      ['One, ns', 'sluice', 'peer x', '100 : 200 = 0.50 ×', '90 : 190 = 0.47 ×', '≤ 1 ×', 'met'],
      ['', 'floor: none', 'peer x', '10 : 200 = 0.05 ×', '9 : 190 = 0.05 ×', '', ''],
      ['Two, ns', 'sluice', 'y', '100 : 50 = 2.00 ×', '90 : 40 = 2.25 ×', '≤ 1.5 ×', '**not met**'],
    ])
    expect(textOf('docs/performance.md')).toMatch(/^before\n<!--[\s\S]*-->\nafter\n$/)
    expect(textOf('README.md')).toBe(
      `Fast. ${FROM}
| CPU time on 2026-01-02 | the best popular limiter | Sluice, as a multiple of it |
|---|---|---|
| for a decision | peer | 0.50 |
${TO} See.\n`,
    )
  })

  it('must say where the results belong', async () => {
    const unmarked = render({ ...files, 'README.md': 'nothing' })
    await expect(unmarked).rejects.toThrow('README.md has no <!-- bench')
  })
})
