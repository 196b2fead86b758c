// Where a report may be written: real files.

import { openSync, readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { scratch } from '@sluice/test-harness/jest'
import { knownTraffic, toCombined, toJsonLines } from './testing/known-traffic.ts'
import { ended, runCli, runProcess, startCli } from './testing/run-cli.ts'

const { folder, file } = scratch()
const LIMIT = ['--limit', '100', '-a', 'sliding-log']
const traffic = knownTraffic(3)
const log = file('access.log', toCombined(traffic))

describe('a report does not overwrite', () => {
  it('a log', async () => {
    const day = file('day2.json', toJsonLines(traffic))
    const { code, stdout, stderr } = await runCli(['replay', log, day, '--json', day, ...LIMIT])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(`--json: ${day} is an input, which the report would overwrite`)
    expect(readFileSync(day, 'utf8')).toBe(toJsonLines(traffic))
  })

  it('the file that standard input comes from', async () => {
    const path = file('stdin.json', '')
    const child = await startCli(['replay', '--json', path, ...LIMIT], {}, openSync(path, 'r'))
    const { code, stderr } = await ended(child)
    expect(stderr).toContain(`--json: ${path} is an input`)
    expect(code).toBe(2)
  })

  it('the configuration', async () => {
    const config = file('limits.json', '{ "limit": 100, "window": "1m" }')
    const { code, stderr } = await runCli(['replay', log, '-c', config, '--json', config])
    expect(stderr).toContain(`--json: ${config} is an input`)
    expect(code).toBe(2)
  })

  it('a file that took its place during the replay', async () => {
    const path = `${folder}/meanwhile.json`
    const config = file(
      'meanwhile.mjs',
      `import { writeFileSync } from 'node:fs'
       export default { limit: 5, window: '1m', skip: () => writeFileSync(${JSON.stringify(path)}, 'mine') }`,
    )
    const one = file('one.jsonl', toJsonLines(traffic.slice(0, 1)))
    const { code, stdout, stderr } = await runProcess(['replay', one, '-c', config, '--json', path])
    expect(stderr).toContain(`--json: ${path} exists and is no report`)
    expect(stdout).toContain('meanwhile.mjs')
    expect(code).toBe(2)
    expect(readFileSync(path, 'utf8')).toBe('mine')
  })
})
