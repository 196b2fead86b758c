// node scripts/soak.mjs --minutes 10 --seed 1
//
// Load on a limiter while its Redis is killed, frozen and restarted at random. Ends with a
// report, and with exit code 1 if something happened that must not.

import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createLimiter } from '@sluice/core'
import { random } from '@sluice/test-harness/random'
import { startRedis } from '@sluice/test-harness/redis'
import { Redis } from 'ioredis'

const DEADLINE_MS = 100
const LIMIT = 1000
const WINDOW_MS = 10_000
const CLIENTS = 20
const STRANDS = 32

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' } },
})
const endsAt = performance.now() + Number(values.minutes) * 60_000
const draw = random(Number(values.seed))
const escaped: unknown[] = []
process.on('unhandledRejection', (error) => escaped.push(error))
process.on('uncaughtException', (error) => escaped.push(error))
process.on('warning', () => {})

const redis = await startRedis()
const client = new Redis(redis.url, { disconnectTimeout: 0 })
client.on('error', () => {})
const limiter = createLimiter({
  store: client,
  limit: LIMIT,
  window: WINDOW_MS,
  algorithm: 'sliding-log',
})

const admittedAt: number[][] = Array.from({ length: CLIENTS }, () => [])
const sources: Record<string, number> = {}
const losses: number[] = []
const heapMb: number[] = []
const faults: Record<string, number> = {}
let longestMs = 0
let beyond = 0
let late = 0
const delayed: { startedAt: number; waitedMs: number }[] = []
/** When this process itself was blocked recently, and for how long, ms. */
const stalls: { at: number; ms: number }[] = []

async function watchStalls(): Promise<void> {
  for (let last = performance.now(); performance.now() < endsAt; last = performance.now()) {
    await delay(5)
    const now = performance.now()
    if (now - last > 10) stalls.push({ at: now, ms: now - last - 5 })
    // Judged once the stall that they may have met is noted.
    for (const { startedAt, waitedMs } of delayed.splice(0)) {
      if (waitedMs > allowedMs(startedAt)) late += 1
    }
    while (stalls[0] !== undefined && stalls[0].at < now - 2000) stalls.shift()
  }
}

/** The longest that a request may have waited, without stalls of this process, ms. */
function allowedMs(startedAt: number): number {
  const own = stalls.filter(({ at, ms }) => at + ms >= startedAt)
  const stalledMs = own.reduce((sum, { ms }) => sum + ms, 0)
  // Of a stall of half the deadline, calls are counted a tenth of the deadline at most.
  return DEADLINE_MS + 20 + stalledMs + (stalledMs > DEADLINE_MS / 2 ? DEADLINE_MS : 0)
}

/**
 * A quota of the store's and one of this process, and another for each loss of the store's data:
 * no more than that may be admitted within a window.
 */
function admit(times: number[], now: number): void {
  // The store's clock and this one differ for a request by at most its duration.
  const from = now - WINDOW_MS + 2 * DEADLINE_MS
  times.push(now)
  while ((times[0] as number) < from) times.shift()
  const lost = losses.filter((at) => at >= now - WINDOW_MS).length
  if (times.length > LIMIT * (2 + lost)) beyond += 1
}

async function strand(): Promise<void> {
  while (performance.now() < endsAt) {
    // Some clients come often enough to be refused, the others don't.
    const client = Math.floor(draw() ** 3 * CLIENTS)
    const startedAt = performance.now()
    const { allowed, source } = await limiter.consume(`client ${client}`)
    const waitedMs = performance.now() - startedAt
    if (allowed) admit(admittedAt[client] as number[], startedAt)
    sources[source] = (sources[source] ?? 0) + 1
    if (waitedMs > DEADLINE_MS + 20) delayed.push({ startedAt, waitedMs })
    longestMs = Math.max(longestMs, waitedMs)
    await delay(1 + draw() * 4)
  }
}

async function disturb(): Promise<void> {
  while (performance.now() < endsAt) {
    await delay(500 + draw() * 4000)
    const choices = ['killed', 'frozen', 'restarted', 'restarted with its data'] as const
    const fault = choices[Math.floor(draw() * choices.length)] as (typeof choices)[number]
    faults[fault] = (faults[fault] ?? 0) + 1
    if (fault === 'frozen') {
      redis.pause()
      await delay(draw() * 3000)
      redis.resume()
    } else if (fault === 'killed') {
      await redis.kill()
      await delay(draw() * 3000)
      await redis.restart()
    } else {
      await redis.restart({ keepData: fault !== 'restarted' })
    }
    if (fault !== 'frozen') losses.push(performance.now())
  }
}

async function weigh(): Promise<void> {
  while (performance.now() < endsAt) {
    global.gc?.()
    heapMb.push(process.memoryUsage().heapUsed / 2 ** 20)
    await delay(5000)
  }
}

await Promise.all([watchStalls(), disturb(), weigh(), ...Array.from({ length: STRANDS }, strand)])
client.disconnect()
await redis.stop()

const third = Math.ceil(heapMb.length / 3)
const most = (values: readonly number[]) => Math.max(...values)
const grownMb = most(heapMb.slice(-third)) - most(heapMb.slice(third, 2 * third))

const failures = [
  escaped.length > 0 && `${escaped.length} errors escaped, the first: ${String(escaped[0])}`,
  late > 0 && `${late} requests waited longer than ${DEADLINE_MS + 20} ms`,
  beyond > 0 && `a limit was exceeded beyond its bound ${beyond} times`,
  grownMb > 4 && `the heap has grown by ${grownMb.toFixed(1)} MB`,
].filter(Boolean)
console.log({ minutes: Number(values.minutes), seed: Number(values.seed), sources, faults })
console.log({ longestMs: Math.ceil(longestMs), late, grownMb: Number(grownMb.toFixed(1)) })
for (const failure of failures) console.log(`FAILED: ${failure}`)
process.exit(failures.length === 0 ? 0 : 1)
