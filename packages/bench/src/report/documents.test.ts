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
  mkdirSync(join(root, 'docs/internals'), { recursive: true })
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
    'docs/internals/figures.md': `before\n${FROM}\nold\n${TO}\nafter\n`,
    'docs/benchmarks.json': JSON.stringify(sampleResults),
  }

  it('show the results', async () => {
    await render(files)
    expect(JSON.parse(textOf('docs/benchmarks.json'))).toEqual(sampleResults)
    expect(textOf('docs/benchmarks.svg')).toMatch(/^<svg[\s\S]*<\/svg>\n$/)
    expect(cellsOf('docs/performance.md')).toContainEqual([
      '',
      'Redis, a request at a time: CPU of Redis',
      '100 µs',
      '10 % of a core at 1,000 requests a second',
      '',
    ])
    expect(textOf('docs/performance.md')).toContain('on 2026-01-02 with Node 20.19.0, 2 × some.')
    const [first, second] = sampleResults.measurements.map(({ title }) => title)
    const goals = cellsOf('docs/internals/figures.md').filter((row) => row.length > 1)
    expect(goals.slice(2).map((row) => row.slice(1, -1))).toEqual([
      [first, 'sluice sliding-window', 'peer x', '0.50 ×', '≤ 1.05 ×', 'met'],
      [second, 'sluice sliding-window', 'y', '2.00 ×', '≤ 1 ×', '**not met**'],
    ])
    expect(textOf('docs/internals/figures.md')).toMatch(/^before\n<!--[\s\S]*-->\nafter\n$/)
    expect(textOf('README.md')).toBe(
      `Fast. ${FROM}
| CPU time on 2026-01-02 | the best popular limiter | Sluice, as a multiple of it |
|---|---|---|
| in Redis with one request at a time | peer | 0.50 |
${TO} See.\n`,
    )
  })

  it('must say where the results belong', async () => {
    const unmarked = render({ ...files, 'README.md': 'nothing' })
    await expect(unmarked).rejects.toThrow('README.md has no <!-- bench')
  })
})
