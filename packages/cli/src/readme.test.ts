// The documents show what the command prints, and docs/cli.md everything that it takes.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { percent } from '@sluice/terminal/words'
import { scratch } from '@sluice/test-harness/jest'
import type { Command } from 'commander'
import { createProgram } from './program.ts'
import type { Report, Run } from './report/report.ts'
import { dayOfTraffic } from './testing/day-of-traffic.ts'
import { kindsOfTraffic } from './testing/kinds-of-traffic.ts'
import { toCombined, toJsonLines } from './testing/known-traffic.ts'
import { runCli } from './testing/run-cli.ts'

const page = readFileSync(join(__dirname, '../../../docs/cli.md'), 'utf8')

const choosing = readFileSync(join(__dirname, '../../../docs/choosing.md'), 'utf8')

/** Commands in comments, each before the block that shows what it prints. */
function shownIn(document: string): string[][] {
  const shown = document.matchAll(/^<!-- sluice ([^\n]+) -->\n```text\n(.*?)^```$/gms)
  return [...shown].map(([, command = '', output = '']) => [command, output])
}

async function expectPrinted(log: string, [command = '', output]: string[]): Promise<void> {
  const args = command.split(' ').map((each) => (each === 'access.log' ? log : each))
  expect((await runCli(args)).stdout).toBe(output)
}

describe('docs/cli.md', () => {
  it('names every command and option', () => {
    const { signal: unread } = new AbortController()
    const { commands: top } = createProgram({
      ...{ io: process, unread, interrupted: () => unread, end: () => {} },
    })
    const commands = top.flatMap((command) => [command, ...command.commands])
    const nameOf = (command: Command): string =>
      command.parent === null ? 'sluice' : `${nameOf(command.parent)} ${command.name()}`
    const names = commands.map(nameOf)
    expect(names.filter((name) => !page.includes(name))).toEqual([])
    const flags = commands.flatMap(({ options }) => options.map(({ long }) => long as string))
    expect(flags.length).toBeGreaterThan(20)
    expect(flags.filter((flag) => !page.includes(`\`${flag}`))).toEqual([])
  })
})

describe('docs/choosing.md', () => {
  const log = scratch().file('access.log', toCombined(dayOfTraffic()))

  it('shows what the replay of its log prints', async () => {
    const shown = shownIn(choosing)
    expect(shown).toHaveLength(1)
    await expectPrinted(log, shown[0] as string[])
  })
})

describe('docs/algorithms.md', () => {
  const algorithms = readFileSync(join(__dirname, '../../../docs/algorithms.md'), 'utf8')
  const [, table = ''] = /^<!-- measured .*-->\n(.*?)\n\n/ms.exec(algorithms) ?? []
  const [head = [], , ...rows] = table
    .split('\n')
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$|`/g, '')))
  const [, , ...names] = head
  const folder = scratch()

  const figures: Record<string, (run: Run) => string> = {
    refused: ({ refused, requests }) => percent(refused / requests),
    'most in a minute': ({ most: [most] }) => String(most?.units),
  }

  it('compares the algorithms on each kind of traffic', () => {
    expect(rows.map(([kind]) => kind)).toEqual(Object.keys(kindsOfTraffic))
  })

  it.each(rows)('shows what a replay reports: %s', async (kind, figure, ...shown) => {
    const requests = kindsOfTraffic[kind as string]?.() ?? []
    const log = folder.file('requests.jsonl', toJsonLines(requests))
    const { stdout } = await runCli(['replay', log, '--limit', '100', '--window', '1m', '--json'])
    const { runs } = JSON.parse(stdout) as Report
    const found = names.map((name) => runs.find((run) => run.name === name) as Run)
    expect(shown).toEqual(found.map(figures[figure as string] as (run: Run) => string))
  })
})
