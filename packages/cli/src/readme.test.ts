// The README shows what the command prints, and all that it takes.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { createProgram } from './command/program.ts'
import { knownTraffic, toCombined } from './testing/known-traffic.ts'
import { runCli } from './testing/run-cli.ts'
import { scratch } from './testing/scratch.ts'

const readme = readFileSync(join(__dirname, '../README.md'), 'utf8')

/** Commands in comments, each before the block that shows what it prints. */
const shown = [...readme.matchAll(/^<!-- sluice ([^\n]+) -->\n```text\n(.*?)^```$/gms)]

describe('the README', () => {
  const log = scratch().file('access.log', toCombined(knownTraffic(3)))

  it.each(shown.map(([, command, output]) => [command, output]))(
    'shows what %s prints',
    async (command, output) => {
      const args = (command as string)
        .split(' ')
        .map((each) => (each === 'access.log' ? log : each))
      expect((await runCli(args)).stdout).toBe(output)
    },
  )

  it('shows a replay and a suggestion', () => {
    expect(shown).toHaveLength(2)
  })

  it('names every option of the command', () => {
    const [replay] = createProgram(async () => {}).commands
    const flags = replay?.options.map(({ long }) => long as string) ?? []
    expect(flags.length).toBeGreaterThan(10)
    expect(flags.filter((flag) => !readme.includes(`\`${flag}`))).toEqual([])
  })
})
