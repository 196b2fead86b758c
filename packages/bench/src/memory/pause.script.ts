import { syncBuiltinESMExports } from 'node:module'
import { PerformanceObserver } from 'node:perf_hooks'
import timers from 'node:timers'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { createLimiter, memoryStore } from '@sluice/core'
import { LIMIT } from '../contenders/terms.ts'
import { defineTask } from '../processes/task.ts'
import { makeKeys } from './keys.ts'

export interface PauseTask {
  readonly keys: number
}

/**
 * The longest that the event loop was held at a stretch, ms. Not counted is what a collection of
 * garbage fell into, which would be there with any allocation, and during which the system gave
 * the processor to somebody else.
 */
export interface Pauses {
  readonly filling: number
  /** Every key expires at once, and the store's timer frees them. */
  readonly sweeping: number
  /** New keys come while the store is full, of keys that have not expired. */
  readonly evicting: number
  /** The pauses of timers and calls that do nothing, over as long a time: the machine's own. */
  readonly control: number
}

interface Span {
  readonly start: number
  readonly end: number
}

const WINDOW_MS = 1000
/** Stretches beneath it are not kept, ms. */
const NOTICED = 0.02

const collections: Span[] = []
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) {
    collections.push({ start: startTime, end: startTime + duration })
  }
}).observe({ entryTypes: ['gc'] })

let spans: Span[] = []

/** How often this process has lost its processor. */
function preemptions(): number {
  return process.resourceUsage().involuntaryContextSwitches
}

/** Preemptions until the last turn, or the last span that was noticed. */
let known = 0

function timed(act: () => void): void {
  const start = performance.now()
  act()
  const end = performance.now()
  if (end - start < NOTICED) return
  const now = preemptions()
  if (now === known) spans.push({ start, end })
  known = now
}

/** The longest since it was last asked for. */
async function longest(): Promise<number> {
  // The observer learns of a collection only after it.
  await delay(50)
  const free = spans.filter(
    ({ start, end }) => !collections.some((each) => each.start < end && each.end > start),
  )
  const length = free.reduce((most, { start, end }) => Math.max(most, end - start), 0)
  spans = []
  collections.length = 0
  return length
}

/** The store's work between calls is in timers: those set from now on are timed. */
function timeTimers(): void {
  const { setTimeout: once } = timers
  timers.setTimeout = ((act: () => void, ms: number) =>
    once(() => {
      known = preemptions()
      timed(act)
    }, ms)) as typeof once
  syncBuiltinESMExports()
}

async function forEach(keys: readonly string[], act: (key: string) => void): Promise<void> {
  for (let i = 0; i < keys.length; i += 1) {
    if (i % 1000 === 0) {
      await turn()
      known = preemptions()
    }
    timed(() => act(keys[i] as string))
  }
}

defineTask(async (task: PauseTask): Promise<Pauses> => {
  timeTimers()
  const keys = makeKeys(task.keys)
  await forEach(keys, () => {})
  const control = await longest()

  let now = 0
  const store = memoryStore({ maxKeys: task.keys, clock: () => now })
  const limiter = createLimiter({
    store,
    limit: LIMIT,
    window: WINDOW_MS,
    algorithm: 'fixed-window',
  })
  await forEach(keys, (key) => limiter.consume(key))
  const filling = await longest()

  now = WINDOW_MS
  // The timer may have fired while the clock stood still: a key that is kept sets it again.
  limiter.consume(keys[0] as string)
  while (store.size > 1) await delay(20)
  const sweeping = await longest()

  await forEach(keys, (key) => limiter.consume(key))
  await longest()
  const strangers = keys.slice(0, task.keys / 4).map((key) => `${key}-new`)
  await forEach(strangers, (key) => limiter.consume(key))
  const evicting = await longest()
  store.close()
  return { filling, sweeping, evicting, control }
})
