import { setTimeout as delay } from 'node:timers/promises'
import type { Decide } from '../contenders/terms.ts'

/** How requests arrive; each makes so many decisions and gives their latencies, ms. */
export const patterns = {
  /** The next request comes when the last one is decided. */
  'one at a time': async (next: () => Promise<unknown>, count: number) => {
    const latencies: number[] = []
    for (let i = 0; i < count; i += 1) latencies.push(await timed(next))
    return latencies
  },

  /** 50 requests come in the same turn of the event loop, and the next 50 when they are decided. */
  '50 in a turn': async (next: () => Promise<unknown>, count: number) => {
    const latencies: number[] = []
    for (let i = 0; i < count; i += 50) {
      latencies.push(...(await Promise.all(Array.from({ length: 50 }, () => timed(next)))))
    }
    return latencies
  },

  /** Requests come every 5 ms, whatever became of those before. */
  '200 a second': async (next: () => Promise<unknown>, count: number) => {
    const begun = performance.now()
    const running: Promise<number>[] = []
    for (let i = 0; i < count; i += 1) {
      await delay(Math.max(0, begun + 5 * i - performance.now()))
      running.push(timed(next))
    }
    return Promise.all(running)
  },
}

export type Pattern = keyof typeof patterns

async function timed(act: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await act()
  return performance.now() - begun
}

/** Decides the keys in turn, from the first again after the last. */
export function inTurn(decide: Decide, keys: readonly string[]): () => Promise<number> {
  let next = 0
  return () => {
    const key = keys[next] as string
    next = (next + 1) % keys.length
    return decide(key)
  }
}
