/**
 * Measures the longest pause that the memory store's own work causes with a million keys, ms. Run
 * it with `npx tsx packages/core/src/stores/memory/pause.bench.ts`. Pauses of the garbage collector
 * are listed on their own: a pass that one fell into is not counted. A pause of the machine looks
 * like one of the store's, so the control tells how long those are without any store.
 */
import { PerformanceObserver, performance } from 'node:perf_hooks'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { createLimiter } from '../../limiter.ts'
import { manualClock } from '../../testing/manual-clock.ts'
import { memoryStore } from './memory-store.ts'
import { Table } from './table.ts'

const KEYS = 1_000_000
const keys = Array.from({ length: KEYS }, (_, i) => `198.51.${i >> 8}.${i & 255}`)

const collections: { start: number; end: number }[] = []
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) {
    collections.push({ start: startTime, end: startTime + duration })
  }
}).observe({ entryTypes: ['gc'] })

let spans: { start: number; end: number }[] = []

function timed(act: () => void): void {
  const start = performance.now()
  act()
  const end = performance.now()
  if (end - start > 0.05) spans.push({ start, end })
}

async function report(name: string): Promise<void> {
  await sleep(50)
  const length = (span: { start: number; end: number }) => span.end - span.start
  const free = spans.filter(
    ({ start, end }) => !collections.some((gc) => gc.start < end && gc.end > start),
  )
  const longest = (of: typeof spans) => Math.max(0, ...of.map(length)).toFixed(2)
  console.log(
    `${name}: longest ${longest(free)} ms; with collections ${longest(spans)} ms; ` +
      `longest collection ${longest(collections)} ms`,
  )
  spans = []
  collections.length = 0
}

/** A full store whose periodic sweep is timed slice by slice, as it is the only timer's work. */
async function fullStore(cost: number, window: number) {
  const clock = manualClock()
  const store = memoryStore({ maxKeys: KEYS, clock })
  const limiter = createLimiter({ store, limit: 100, window, algorithm: 'fixed-window' })
  for (const [i, key] of keys.entries()) {
    timed(() => limiter.consume(key, { cost }))
    if (i % 10_000 === 0) await turn()
  }
  return { clock, store, limiter }
}

/** Times each pass that the sweep consists of; a slice is passes until 1 ms is over. */
function timePasses(): () => void {
  const { sweep } = Table.prototype
  Table.prototype.sweep = function (now) {
    let freed = 0
    timed(() => {
      freed = sweep.call(this, now)
    })
    return freed
  }
  return () => {
    Table.prototype.sweep = sweep
  }
}

const { setTimeout: once, setInterval: every } = globalThis
globalThis.setTimeout = ((act: () => void, ms: number) =>
  once(() => timed(act), ms)) as typeof setTimeout
globalThis.setInterval = ((act: () => void, ms: number) =>
  every(() => timed(act), ms)) as typeof setInterval

{
  const end = performance.now() + 10_000
  while (performance.now() < end) timed(() => {})
  await report('control: no store, 10 s')
}
{
  const { clock, store } = await fullStore(1, 1000)
  await report('filling (growth of the index)')
  clock.advance(1000)
  while (store.size > 0) await sleep(20)
  await report('slices of a sweep that frees every key')
  store.close()
}
{
  const { clock, store, limiter } = await fullStore(1, 60_000)
  clock.advance(60_000)
  for (const [i, key] of keys.entries()) {
    limiter.consume(key)
    if (i % 10_000 === 0) await turn()
  }
  spans = []
  await sleep(3000)
  await report('slices of a sweep that finds every key used again')
  const restore = timePasses()
  for (let i = 0; i < 300_000; i += 1) {
    timed(() => limiter.consume(`new-${i}`))
    if (i % 1000 === 0) await turn()
  }
  restore()
  await report('new keys when full')
  store.close()
}
{
  const { store, limiter } = await fullStore(100, 60_000)
  spans = []
  for (let i = 0; i < 300_000; i += 1) {
    timed(() => limiter.consume(`new-${i}`))
    if (i % 1000 === 0) await turn()
  }
  await report('new keys when every key is exhausted')
  timed(() => limiter.block('blocked', '1h'))
  await report('a block when every key is exhausted')
  store.close()
}
