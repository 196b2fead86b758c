// One process of the load: calls at random times, however long the answers take.

import { argv, exit, stdout } from 'node:process'
import { contenders, type Task } from './contenders.ts'

interface Job extends Task {
  readonly contender: string
  /** Calls per second. */
  readonly rate: number
  /** When to stop calling, ms. */
  readonly durationMs: number
  /** Which calls count, ms from the start. */
  readonly fromMs: number
}

const job = JSON.parse(argv[2] as string) as Job
const send = (contenders[job.contender] as (typeof contenders)[string])(job)
const waits: number[] = []
let failed = 0

/** Calls as a Poisson process does. */
async function load(): Promise<void> {
  const start = performance.now()
  let at = 0
  while (at < job.durationMs) {
    at += (-Math.log(1 - Math.random()) * 1000) / job.rate
    const restMs = at - (performance.now() - start)
    if (restMs > 1) await new Promise((resolve) => setTimeout(resolve, restMs))
    const called = performance.now()
    send().then(
      () => {
        if (performance.now() - start >= job.fromMs) waits.push(performance.now() - called)
      },
      () => {
        failed += 1
      },
    )
  }
}

await load()
const mean = waits.reduce((sum, each) => sum + each, 0) / Math.max(1, waits.length)
stdout.write(`${JSON.stringify({ count: waits.length, mean, failed })}\n`, () => exit(0))
