// npm run bench -- outgoing: four processes call a simulated provider at three times its limit, with
// @sluice/outgoing and with other queues. `--seconds 4 --window 2` measures less.

import { parseArgs } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { markdownTable } from 'markdown-table'
import { install } from '../processes/install.ts'
import { runTask } from '../processes/run-task.ts'
import { beginReport } from '../report/print.ts'
import type { CallingTask } from './calling.script.ts'
import { contenders } from './contenders.ts'
import { SURPRISE_SECONDS, startProvider } from './provider.ts'

const { values } = parseArgs({
  options: {
    /** How long each run is measured, s. */
    seconds: { type: 'string', default: '20' },
    /** The window of the provider, s. */
    window: { type: 'string', default: '10' },
  },
})

const PROCESSES = 4
const LIMIT = 300
const WINDOW_MS = Number(values.window) * 1000
/** The first part of the load, which does not count: a window. */
const WARM_UP_MS = WINDOW_MS
const OVERLOAD = 3
const MAX_WAIT_MS = 5000
/** How long a refusal takes until all processes know of it, ms: its answer, and a call of the store. */
const GRACE_MS = 100

const measuredMs = Number(values.seconds) * 1000

/** A contender in front of a provider, which may refuse one call without a reason. */
async function measure(contender: string, redis: string, isSurprised: boolean) {
  const provider = await startProvider(LIMIT, WINDOW_MS)
  const durationMs = WARM_UP_MS + measuredMs
  const task: CallingTask = {
    contender,
    url: provider.url,
    redis,
    limit: LIMIT,
    windowMs: WINDOW_MS,
    processes: PROCESSES,
    maxWaitMs: MAX_WAIT_MS,
    rate: (OVERLOAD * LIMIT * 1000) / WINDOW_MS / PROCESSES,
    durationMs,
    fromMs: WARM_UP_MS,
  }
  const runs = Array.from({ length: PROCESSES }, () => runTask<number>('outgoing/calling', task))
  while (provider.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  const begun = provider.now()
  if (isSurprised) provider.surpriseAt(begun + WARM_UP_MS + measuredMs / 3)
  const waits = await Promise.all(runs)
  await provider.stop()

  const counted = provider.seen.filter(
    ({ at }) => at >= begun + WARM_UP_MS && at < begun + durationMs,
  )
  const surprised = provider.surprisedAt() ?? Infinity
  const refused = counted.filter(({ status }) => status === 429).length
  const early = counted.filter(
    ({ at }) => at > surprised + GRACE_MS && at < surprised + SURPRISE_SECONDS * 1000,
  )
  return {
    used: ((counted.length - refused) * WINDOW_MS) / LIMIT / measuredMs,
    refused,
    early: early.length,
    waitMs: waits.reduce((sum, each) => sum + each, 0) / PROCESSES,
  }
}

const print = beginReport()
await install()
const server = await startRedis({ args: ['--save', ''] })
const early = `sent in the ${SURPRISE_SECONDS} s after a surprise`
const rows = [['queue', 'quota used', '429', early, 'mean wait, ms']]
try {
  for (const contender of Object.keys(contenders)) {
    const even = await measure(contender, server.url, false)
    const surprised = await measure(contender, server.url, true)
    rows.push([
      contender,
      `${(even.used * 100).toFixed(1)} %`,
      `${even.refused}`,
      `${surprised.early}`,
      even.waitMs.toFixed(0),
    ])
  }
  const table = markdownTable(rows, { align: ['l', 'r', 'r', 'r', 'r'] })
  await print([table], ['bottleneck', 'p-throttle', 'p-queue', 'axios-rate-limit'])
} finally {
  await server.stop()
}
