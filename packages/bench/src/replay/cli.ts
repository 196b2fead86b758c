// npm run bench -- replay: how fast `sluice replay` is, and how much memory it takes, on a log that is
// made for it.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { install, installed } from '../processes/install.ts'
import { measurementOf } from '../report/measurement.ts'
import { beginReport } from '../report/print.ts'
import { writeAccessLog } from './access-log.ts'

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '10000000' },
    clients: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
  },
})
const lines = Number(values.lines)
const clients = Number(values.clients)

const CASES: readonly { title: string; args: readonly string[]; hours: number }[] = [
  { title: 'a day, five algorithms', args: ['--limit', '100'], hours: 24 },
  { title: 'an hour, five algorithms', args: ['--limit', '100'], hours: 1 },
  {
    title: 'a day, the default algorithm',
    args: ['--limit', '100', '--algorithm', 'sliding-window'],
    hours: 24,
  },
  { title: 'a day, --suggest alone', args: ['--suggest'], hours: 24 },
]

interface Cost {
  /** Wall clock, since the process began: with its start and its report, s. */
  readonly seconds: number
  readonly cpu: number
  /** The most memory, MB. */
  readonly rss: number
}

async function measure(file: string, args: readonly string[]): Promise<Cost> {
  const begun = performance.now()
  const usage = join(import.meta.dirname, 'usage.mjs')
  const main = join(installed, 'node_modules/@sluice/cli/dist/main.js')
  const { stderr } = await promisify(execFile)(process.execPath, [
    ...['--import', usage, main, 'replay', file, '--window', '1m'],
    ...args,
  ])
  const seconds = (performance.now() - begun) / 1000
  return { seconds, ...JSON.parse(stderr.trim().split('\n').at(-1) as string) }
}

const print = beginReport()
await install()
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
try {
  const costs = new Map<string, Cost[]>()
  for (const { title, args, hours } of CASES) {
    const file = join(folder, 'access.txt')
    writeAccessLog(file, { lines, clients, hours })
    const rounds: Cost[] = []
    for (let i = 0; i < Number(values.rounds); i += 1) rounds.push(await measure(file, args))
    costs.set(title, rounds)
  }
  const of = `${lines.toLocaleString('en')} lines of ${clients.toLocaleString('en')} clients`
  await print([
    measurementOf(costs, { title: `Time for ${of}`, unit: 's' }, ({ seconds }) => seconds),
    measurementOf(costs, { title: `CPU for ${of}`, unit: 's' }, ({ cpu }) => cpu),
    measurementOf(costs, { title: `Memory for ${of}`, unit: 'MB' }, ({ rss }) => rss),
  ])
} finally {
  rmSync(folder, { recursive: true })
}
