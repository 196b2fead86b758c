// npm run bench -- outgoing: four processes call a simulated provider at three times its limit, with
// @sluice/outgoing and with other queues.

import { execFile } from 'node:child_process'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { startRedis } from '@sluice/test-harness/redis'
import { markdownTable } from 'markdown-table'
import { machine, packageVersion, versions } from '../environment.ts'
import { contenders } from './contenders.ts'
import { type ProviderKind, SURPRISE_SECONDS, startProvider } from './provider.ts'

const { values } = parseArgs({
  options: {
    /** How long each run is measured, s. */
    seconds: { type: 'string', default: '20' },
    /** The window of the providers, s. */
    window: { type: 'string', default: '10' },
    /** A part of the name of the contenders and of the providers that run. */
    contender: { type: 'string', default: '' },
    provider: { type: 'string', default: '' },
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

const base = { limit: LIMIT, windowMs: WINDOW_MS, skewMs: 0, fields: 'true' } as const
const COUNTS = ['fixed window', 'token bucket', 'sliding log'] as const
/** The faults of each kind of provider. */
const FAULTS: { readonly [name: string]: Partial<ProviderKind> } = {
  '': {},
  ', its clock 7 s ahead': { skewMs: 7300 },
  ', fields half a second old': { fields: 'late' },
  ', no fields': { fields: 'missing' },
  ', ten times what is left': { fields: 'lying' },
}
const PROVIDERS: readonly ProviderKind[] = COUNTS.flatMap((counts) =>
  Object.entries(FAULTS).map(([fault, how]) => ({
    ...base,
    ...how,
    counts,
    name: `${counts}${fault}`,
  })),
)

const measuredMs = Number(values.seconds) * 1000
const worker = fileURLToPath(new URL('worker.ts', import.meta.url))

/** One row: a contender in front of a provider. */
async function measure(contender: string, kind: ProviderKind, redis: string, isSurprised: boolean) {
  const provider = await startProvider(kind)
  const durationMs = WARM_UP_MS + measuredMs
  const runs = Array.from({ length: PROCESSES }, async (_, process) => {
    const job = {
      contender,
      url: provider.url,
      redis,
      limit: LIMIT,
      windowMs: WINDOW_MS,
      processes: PROCESSES,
      process,
      maxWaitMs: MAX_WAIT_MS,
      rate: (OVERLOAD * LIMIT * 1000) / WINDOW_MS / PROCESSES,
      durationMs,
      fromMs: WARM_UP_MS,
    }
    const { stdout } = await promisify(execFile)(execPath, [
      '--import',
      'tsx',
      worker,
      JSON.stringify(job),
    ])
    return JSON.parse(stdout) as { count: number; mean: number; failed: number }
  })
  while (provider.seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  const begun = provider.now()
  if (isSurprised) provider.surpriseAt(begun + WARM_UP_MS + measuredMs / 3)
  const results = await Promise.all(runs)
  await provider.stop()

  const counted = provider.seen.filter(
    ({ at }) => at >= begun + WARM_UP_MS && at < begun + durationMs,
  )
  const surprised = provider.surprisedAt()
  const refused = counted.filter(({ status }) => status === 429)
  const quota = (LIMIT * measuredMs) / WINDOW_MS
  const means = results.map(({ mean }) => mean)
  const early = counted.filter(({ at }) => {
    if (surprised === undefined || at <= surprised + GRACE_MS) return false
    return at < surprised + SURPRISE_SECONDS * 1000
  })
  return {
    used: (counted.length - refused.length) / quota,
    refused: refused.length - (surprised === undefined ? 0 : 1),
    early: surprised === undefined ? undefined : early.length,
    unfairness: Math.max(...means) / Math.min(...means),
    waitMs: means.reduce((sum, each) => sum + each, 0) / PROCESSES,
  }
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`

const header = [
  'queue',
  'provider',
  'quota used',
  '429',
  `sent in the ${SURPRISE_SECONDS} s after a surprise`,
  'mean wait, ms',
  'largest to smallest',
]
const server = await startRedis({ args: ['--save', ''] })
const rows = [header]
try {
  for (const contender of Object.keys(contenders)) {
    if (!contender.includes(values.contender)) continue
    const isOwn = contender.startsWith('@sluice')
    const kinds = isOwn ? PROVIDERS : PROVIDERS.slice(0, 1)
    for (const kind of kinds.filter(({ name }) => name.includes(values.provider))) {
      const even = await measure(contender, kind, server.url, false)
      const isFirst = kind === PROVIDERS[0]
      const surprised = isFirst ? await measure(contender, kind, server.url, true) : undefined
      const row = [
        contender,
        kind.name,
        percent(even.used),
        `${even.refused}`,
        surprised === undefined ? '' : `${surprised.early}`,
        even.waitMs.toFixed(0),
        even.unfairness.toFixed(2),
      ]
      rows.push(row)
      console.error(row.join(' | '))
    }
  }
  console.log(markdownTable(rows, { align: ['l', 'l', 'r', 'r', 'r', 'r', 'r'] }))
  const { Node, Redis } = await versions()
  const peers = ['bottleneck', 'p-throttle', 'p-queue', 'axios-rate-limit'].map(
    (name) => `${name} ${packageVersion(name)}`,
  )
  const facts = [`Node ${Node}`, `Redis ${Redis}`, ...peers, ...Object.values(machine())]
  console.log(`\n${facts.join(', ')}`)
} finally {
  await server.stop()
}
