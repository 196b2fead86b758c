// The command itself, drawing what an earlier run has measured.

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Results } from './report/results.ts'

const results: Results = {
  date: '2026-01-02T03:04:05.678Z',
  seconds: 12,
  machine: { CPU: '2 × some' },
  versions: { Node: '20.19.0' },
  measurements: [
    {
      title: 'One count in memory',
      chart: 'One decision',
      unit: 'ns',
      reference: 'sluice',
      rows: [
        { contender: 'sluice', samples: [90, 100, 110] },
        { contender: 'peer', samples: [200, 210, 190] },
        { contender: 'like us', samples: [90, 150, 60] },
      ],
    },
  ],
  bars: [
    { work: 'One', bar: 'less', unit: 'ns', ours: 100, allowed: 200, verdict: 'pass' },
    { work: 'Two', bar: 'less', unit: 'ns', ours: 100, allowed: 50, verdict: 'fail' },
  ],
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  writeFileSync(join(folder, 'in.json'), JSON.stringify(results))
})
afterAll(() => rmSync(folder, { recursive: true }))

async function bench(...args: string[]) {
  const command = ['--import', 'tsx', join(import.meta.dirname, 'cli.ts'), ...args]
  const options = { cwd: import.meta.dirname, env: { ...process.env, INIT_CWD: folder } }
  return promisify(execFile)(process.execPath, command, options)
}

describe('npm run bench', () => {
  it('draws and writes earlier results again', async () => {
    const files = ['--json', 'out.json', '--markdown', 'out.md', '--svg', 'out.svg']
    const { stdout } = await bench('--from', 'in.json', ...files)
    const written = (name: string) => readFileSync(join(folder, name), 'utf8')
    expect(JSON.parse(written('out.json'))).toEqual(results)
    expect(written('out.md')).toBe(stdout)
    expect(written('out.svg')).toMatch(/^<svg[\s\S]*<\/svg>\n$/)
    const cells = stdout.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
    expect(cells).toContainEqual(['', 'peer', '200', '190', '± 5', '2.00 ×', ''])
    expect(cells).toContainEqual(['', 'like us', '90', '60', '± 23', 'not distinguishable', ''])
    expect(cells).toContainEqual(['', 'Two', 'less', '100 ns', '50 ns', '**fail**', ''])
  })

  it('says how it is used where it is not used so', async () => {
    await expect(bench('memroy')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/there is no part memroy[\s\S]*npm run bench -- \[memory\]/),
    })
  })
})
