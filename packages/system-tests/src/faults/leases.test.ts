// Four processes lease one key at twice its limit, and are killed and replaced one after the other.

import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { bundle, startBundle } from '@sluice/test-harness/processes'
import type { LeasingWork, Uses } from './workers/leasing.ts'

const redis = useRedis()
const PROCESSES = 4
const LEASE_MS = 100
const LIMIT = 1000
const WINDOW_MS = 1000
/** Clocks that are read in whole milliseconds, at the beginning and at the end of a span. */
const ROUNDING_MS = 2
/** 300 in all for a release. */
const KILLS = process.env.SLUICE_RELEASE === '1' ? 75 : 2
/** How long all run, about, before each kill, ms. */
const RUN_MS = 1000

const children = new Set<ChildProcess>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** @returns when how many units were used, in their order */
async function play(options: LeasingWork['options'], kills: number): Promise<[number, number][]> {
  const code = await bundle(`${import.meta.dirname}/workers/leasing.ts`)
  const rate = (2 * LIMIT * 1000) / WINDOW_MS / PROCESSES
  const work: LeasingWork = { url: redis.server.url, options, rate }
  const used = new Map<number, number>()
  const start = () => {
    const child = startBundle(code, { args: [JSON.stringify(work)] })
    children.add(child)
    child.on('message', (uses: Uses) => {
      for (const [at, units] of uses) used.set(at, (used.get(at) ?? 0) + units)
    })
    return child
  }
  const running = Array.from({ length: PROCESSES }, start)
  for (let i = 0; i < kills; i += 1) {
    await delay(RUN_MS * (0.5 + Math.random()))
    running.shift()?.kill('SIGKILL')
    running.push(start())
  }
  await delay(3 * RUN_MS)
  for (const child of running) child.kill('SIGKILL')
  return [...used].sort(([one], [other]) => one - other)
}

test.each(['token-bucket', 'sliding-window', 'fixed-window', 'sliding-log'] as const)(
  `${KILLS} processes are killed, with a %s: in any span no more is admitted than in one that is longer by a lease`,
  async (algorithm) => {
    const uses = await play(
      { algorithm, limit: LIMIT, window: WINDOW_MS, prefix: algorithm, lease: LEASE_MS },
      KILLS,
    )
    const perMs = LIMIT / WINDOW_MS
    if (algorithm === 'token-bucket') {
      // So much more than refills was used, from the worst moment on.
      let [sum, least] = [0, Infinity]
      for (const [at, units] of uses) {
        least = Math.min(least, sum - at * perMs)
        sum += units
        const most = LIMIT + (LEASE_MS + ROUNDING_MS) * perMs
        expect(sum - at * perMs - least).toBeLessThanOrEqual(most)
      }
    } else if (algorithm === 'sliding-log') {
      for (const [i, [from]] of uses.entries()) {
        let sum = 0
        for (const [at, units] of uses.slice(i)) {
          if (at >= from + WINDOW_MS - LEASE_MS - ROUNDING_MS) break
          sum += units
        }
        expect(sum).toBeLessThanOrEqual(LIMIT)
      }
    } else {
      const windows = new Map<number, number>()
      for (const [at, units] of uses) {
        const window = Math.floor(at / WINDOW_MS)
        windows.set(window, (windows.get(window) ?? 0) + units)
      }
      for (const units of windows.values()) expect(units).toBeLessThanOrEqual(LIMIT)
    }
  },
)
