import { setTimeout as delay } from 'node:timers/promises'

/** How long anything awaited may take, ms: far beyond what it does take, also on a machine that stalls. */
const WITHIN_MS = 30_000
/** The pauses between two looks: each costs a request in most tests, and some wait for seconds. */
const PAUSES_MS = { first: 5, growth: 1.3, last: 50 }

/** A charge is settled after its response has ended: how long after is not for the client to know. */
export async function eventually(what: string, condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + WITHIN_MS
  let pauseMs = PAUSES_MS.first
  while (!(await condition())) {
    if (performance.now() > end)
      throw new Error(`gave up after ${WITHIN_MS / 1000} s of waiting until ${what}`)
    await delay(pauseMs)
    pauseMs = Math.min(pauseMs * PAUSES_MS.growth, PAUSES_MS.last)
  }
}
