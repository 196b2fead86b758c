// npm run bench -- replay: how fast `sluice replay` is, and how much memory it takes, on a log that is
// made for it.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { markdownTable } from 'markdown-table'
import { machine } from '../environment.ts'
import { type AccessLog, writeAccessLog } from './access-log.ts'
import { installed } from './installed.ts'

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '10000000' },
    clients: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
  },
})
const lines = Number(values.lines)
const clients = Number(values.clients)

const CASES: readonly { title: string; args: readonly string[]; log: AccessLog }[] = [
  { title: 'a day, five algorithms', args: ['--limit', '100'], log: { lines, clients, hours: 24 } },
  {
    title: 'an hour, five algorithms',
    args: ['--limit', '100'],
    log: { lines, clients, hours: 1 },
  },
  {
    title: 'a day, the default algorithm',
    args: ['--limit', '100', '--algorithm', 'sliding-window'],
    log: { lines, clients, hours: 24 },
  },
  { title: 'a day, --suggest alone', args: ['--suggest'], log: { lines, clients, hours: 24 } },
]

/** Wall clock, since the process began: with its start and its report. */
async function measure(main: string, file: string, args: readonly string[]) {
  const begun = performance.now()
  const usage = join(import.meta.dirname, 'usage.mjs')
  const { stderr } = await promisify(execFile)(process.execPath, [
    ...['--import', usage, main, 'replay', file, '--window', '1m'],
    ...args,
  ])
  const seconds = (performance.now() - begun) / 1000
  const { cpu, rss } = JSON.parse(stderr.trim().split('\n').at(-1) as string)
  return { rate: lines / seconds, cpu: cpu as number, rss: rss as number }
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
try {
  const main = join(installed(folder, ['cli']), '@sluice/cli/dist/main.js')
  const rows: string[][] = []
  for (const { title, args, log } of CASES) {
    const file = join(folder, 'access.txt')
    writeAccessLog(file, log)
    const rounds: Awaited<ReturnType<typeof measure>>[] = []
    for (let i = 0; i < Number(values.rounds); i += 1) rounds.push(await measure(main, file, args))
    rounds.sort((one, other) => one.rate - other.rate)
    const { rate, cpu } = rounds[Math.floor(rounds.length / 2)] as (typeof rounds)[number]
    const rss = Math.max(...rounds.map((round) => round.rss))
    rows.push([title, Math.round(rate).toLocaleString('en'), cpu.toFixed(1), rss.toFixed(0)])
  }
  const head = ['log', 'lines a second', 'CPU seconds', 'most memory, MB']
  console.log(`${lines.toLocaleString('en')} lines of ${clients.toLocaleString('en')} clients\n`)
  console.log(markdownTable([head, ...rows], { align: ['l', 'r', 'r', 'r'] }))
  console.log(
    `\nMedian of ${values.rounds} rounds, the most memory of any. ` +
      `Node ${process.versions.node}, ${Object.values(machine()).join(', ')}`,
  )
} finally {
  rmSync(folder, { recursive: true })
}
