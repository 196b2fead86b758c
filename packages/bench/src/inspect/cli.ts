// npm run bench -- inspect: what reading a million keys costs those who use the same Redis, and the memory
// of the process that reads.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'
import { markdownTable } from 'markdown-table'
import { machine } from '../environment.ts'
import type { Swept } from './sweep.script.ts'

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '1000000' },
    /** How long latencies are taken, of each kind. */
    seconds: { type: 'string', default: '30' },
  },
})
const keys = Number(values.keys)
const seconds = Number(values.seconds)

const WINDOW_MS = 86_400_000
const BATCH = 10_000

/** Sets the states of a sliding window, as the script would. */
async function fill(redis: Redis): Promise<void> {
  const state = Buffer.alloc(32)
  state.writeDoubleLE(Math.floor(Date.now() / WINDOW_MS), 0)
  state.writeDoubleLE(Date.now() + WINDOW_MS, 24)
  for (let from = 0; from < keys; from += BATCH) {
    const batch = redis.pipeline()
    for (let i = from; i < Math.min(from + BATCH, keys); i += 1) {
      state.writeDoubleLE(i % 100, 16)
      const name = `sluice:{user:${i}}:sliding-window:${WINDOW_MS}:100:default`
      batch.set(name, Buffer.from(state), 'PX', WINDOW_MS)
    }
    await batch.exec()
  }
}

/** How long each state of the other process lasts: what else the machine does is alike in both. ms */
const SLICE_MS = 1000

/** Adds the latencies of one small command after the other, about a thousand a second, ms. */
async function measure(redis: Redis, taken: number[]): Promise<void> {
  const end = performance.now() + SLICE_MS
  while (performance.now() < end) {
    const began = performance.now()
    await redis.get('sluice:{user:7}:other')
    taken.push(performance.now() - began)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

function row(name: string, taken: number[]): string[] {
  taken.sort((one, other) => one - other)
  const at = (share: number) => (taken[Math.floor((taken.length - 1) * share)] as number).toFixed(2)
  return [name, at(0.5), at(0.99), at(0.999)]
}

const server = await startRedis({ args: ['--save', ''] })
const redis = new Redis(server.url)
try {
  await fill(redis)
  const sweeper = fork(join(import.meta.dirname, 'sweep.script.ts'), [server.url], {
    execArgv: ['--import', 'tsx'],
  })
  // It would be on a machine of its own: the measured ones do not wait for a core because of it.
  setPriority(sweeper.pid as number, constants.priority.PRIORITY_LOW)
  const sweeps: Swept[] = []
  sweeper.on('message', (swept) => sweeps.push(swept as Swept))
  const [first] = await Promise.race([once(sweeper, 'message'), once(sweeper, 'exit')])
  if (typeof first !== 'object') throw new Error(`the reader ended with ${first}`)
  const [alone, during]: [number[], number[]] = [[], []]
  await redis.config('RESETSTAT')
  for (let slice = 0; slice < seconds; slice += 1) {
    sweeper.kill('SIGSTOP')
    await measure(redis, alone)
    sweeper.kill('SIGCONT')
    await measure(redis, during)
  }
  const stats = await server.commandStats()
  const slowest = await redis.info('latencystats')
  sweeper.kill()

  const head = ['a GET of another client, ms', 'median', '99 %', '99.9 %']
  console.log(`${keys.toLocaleString('en')} keys\n`)
  console.log(
    markdownTable([head, row('alone', alone), row('while all keys are read', during)], {
      align: ['l', 'r', 'r', 'r'],
    }),
  )
  const [{ seconds: took, keys: read, rss }] = sweeps as [Swept]
  console.log(`\nread ${read} keys in ${took.toFixed(1)} s; the process had ${rss.toFixed(0)} MB`)
  for (const name of ['scan', 'evalsha'])
    console.log(
      `${name}: ${JSON.stringify(stats[name])}, ${new RegExp(`percentiles_usec_${name}:(.*)`).exec(slowest)?.[1]?.trim()} µs`,
    )
  console.log(`\nNode ${process.versions.node}, ${Object.values(machine()).join(', ')}`)
} finally {
  redis.disconnect()
  await server.stop()
}
