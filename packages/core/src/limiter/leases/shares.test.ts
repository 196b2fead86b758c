// Who gets what, while several processes lease one key and ask for twice its limit, or more.

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import {
  type FailingStore,
  failingStore,
  type ManualClock,
  manualClock,
} from '../../testing/index.ts'
import { createLimiter } from '../create-limiter.ts'
import type { Limiter } from '../limiter.ts'

const LEASE_MS = 250
const WINDOW_MS = 10_000
const LIMIT = 3000
/** Requests of a second, of all processes together: twice the limit. */
const RATE = 600
/** How long one half of the processes is busy, where the load moves, ms. */
const MOVES_AFTER_MS = 600

let clock: ManualClock
let store: FailingStore
let limiters: Limiter<'async'>[]

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] })
  clock = manualClock(180_000_000 * WINDOW_MS)
  jest.setSystemTime(clock())
  store = failingStore({ clock })
})
afterEach(() => {
  for (const limiter of limiters) limiter.close()
  store.close()
  jest.useRealTimers()
})

/** The share of the load that comes to a process. */
type ShareOf = (process: number, processes: number, ms: number) => number

const even: ShareOf = (_, processes) => 1 / processes
const uneven: ShareOf = (process, processes) =>
  processes === 1 ? 1 : process === 0 ? 0.7 : 0.3 / (processes - 1)
const moving: ShareOf = (process, processes, ms) => {
  if (processes === 1) return 1
  const isBusy = process % 2 === Math.floor(ms / MOVES_AFTER_MS) % 2
  return isBusy ? 2 / processes : 0
}

/** Plays most of a window, in virtual time. @returns what each process was admitted, and the worst refusal */
async function play(processes: number, shareOf: ShareOf) {
  const options = { prefix: 'sluice', algorithm: 'fixed-window', window: WINDOW_MS } as const
  const create = () =>
    createLimiter({ ...options, limit: LIMIT, store, lease: LEASE_MS }) as Limiter<'async'>
  limiters = Array.from({ length: processes }, create)
  const admitted = limiters.map(() => 0)
  const due = limiters.map(() => 0)
  let mostUnused = 0
  for (let ms = 0; ms < WINDOW_MS - LEASE_MS; ms += 5) {
    clock.advance(5)
    await jest.advanceTimersByTimeAsync(5)
    const asked = limiters.map(async (limiter, i) => {
      due[i] = (due[i] as number) + (RATE * shareOf(i, processes, ms) * 5) / 1000
      while ((due[i] as number) >= 1) {
        due[i] = (due[i] as number) - 1
        const { allowed, source } = await limiter.consume('client')
        if (allowed) admitted[i] = (admitted[i] as number) + 1
        // Its process has no lease, so all that is charged and not used is in those of others.
        else if (source === 'store') {
          const used = admitted.reduce((sum, each) => sum + each, 0)
          mostUnused = Math.max(mostUnused, LIMIT - used)
        }
      }
    })
    await Promise.all(asked)
  }
  return { admitted, mostUnused }
}

describe.each([1, 4, 16])('%d processes', (processes) => {
  it.each<[string, ShareOf]>([
    ['even', even],
    ['uneven', uneven],
    ['moving', moving],
  ])(
    'use the limit up, with a load that is %s, and none is refused while others have much',
    async (_, shareOf) => {
      const { admitted, mostUnused } = await play(processes, shareOf)
      const used = admitted.reduce((sum, each) => sum + each, 0)
      expect(used).toBeLessThanOrEqual(LIMIT)
      expect(used).toBeGreaterThanOrEqual(0.97 * LIMIT)
      expect(mostUnused).toBeLessThanOrEqual(LIMIT / 4)
      if (shareOf === even)
        expect(Math.max(...admitted)).toBeLessThanOrEqual(1.1 * Math.min(...admitted))
    },
  )
})
