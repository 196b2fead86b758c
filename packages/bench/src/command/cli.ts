// npm run bench -- cli: how long the command takes from its start to its end, beside Node alone.

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { createLimiter } from '@sluice/core'
import { startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { markdownTable } from 'markdown-table'
import { machine } from '../environment.ts'
import { installed } from '../replay/installed.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } })

/** Wall clock and CPU time of a process, ms. */
interface Taken {
  readonly wall: number
  readonly cpu: number
}

async function measure(args: readonly string[]): Promise<Taken> {
  const begun = performance.now()
  const usage = join(import.meta.dirname, '../replay/usage.mjs')
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', usage, ...args])
  const wall = performance.now() - begun
  const { cpu } = JSON.parse(stderr.trim().split('\n').at(-1) as string)
  return { wall, cpu: cpu * 1000 }
}

function row(name: string, taken: readonly Taken[]): string[] {
  const cells = (['wall', 'cpu'] as const).flatMap((figure) => {
    const sorted = taken.map((each) => each[figure]).sort((one, other) => one - other)
    return [sorted[0], sorted[Math.floor(sorted.length / 2)]] as [number, number]
  })
  return [name, ...cells.map((ms) => ms.toFixed(0))]
}

/** Counts a client, for the commands to show. */
async function countOne(url: string): Promise<void> {
  const redis = new Redis(url)
  const limiter = createLimiter({ store: redis, limit: 1000, window: '1d', deadline: '30s' })
  await limiter.consume('client')
  limiter.close()
  redis.disconnect()
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
const server = await startRedis({ args: ['--save', ''] })
try {
  const main = join(installed(folder, ['cli']), '@sluice/cli/dist/main.js')
  await countOne(server.url)
  const onStore = ['--redis', server.url]
  const CASES: readonly (readonly [string, readonly string[]])[] = [
    ['Node alone', ['--eval', '0']],
    ['sluice --version', [main, '--version']],
    ['sluice --help', [main, '--help']],
    ['sluice inspect', [main, 'inspect', 'client', ...onStore]],
    ['sluice top', [main, 'top', '--once', ...onStore]],
  ]
  const taken = CASES.map((): Taken[] => [])
  // Interleaved: what else the machine does is alike for all.
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const [i, [, args]] of CASES.entries()) taken[i]?.push(await measure(args))

  const head = ['command', 'wall, best, ms', 'wall, median', 'CPU, best, ms', 'CPU, median']
  const rows = CASES.map(([name], i) => row(name, taken[i] as Taken[]))
  console.log(markdownTable([head, ...rows], { align: ['l', 'r', 'r', 'r', 'r'] }))
  const facts = [`Node ${process.versions.node}`, ...Object.values(machine())]
  console.log(`\n${values.rounds} rounds. ${facts.join(', ')}`)
} finally {
  await server.stop()
  rmSync(folder, { recursive: true })
}
