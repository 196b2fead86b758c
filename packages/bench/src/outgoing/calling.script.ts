import { defineTask } from '../processes/task.ts'
import { contenders, type Sending } from './contenders.ts'

export interface CallingTask extends Sending {
  readonly contender: string
  /** Calls per second. */
  readonly rate: number
  /** When to stop calling, ms. */
  readonly durationMs: number
  /** Which calls count, ms from the start. */
  readonly fromMs: number
}

/** Calls as a Poisson process does, however long the answers take. @returns the mean wait, ms */
defineTask(async (task: CallingTask): Promise<number> => {
  const send = (contenders[task.contender] as (typeof contenders)[string])(task)
  const waits: number[] = []
  const start = performance.now()
  for (let at = 0; at < task.durationMs; ) {
    at += (-Math.log(1 - Math.random()) * 1000) / task.rate
    const restMs = at - (performance.now() - start)
    if (restMs > 1) await new Promise((resolve) => setTimeout(resolve, restMs))
    const called = performance.now()
    send().then(
      () => {
        if (performance.now() - start >= task.fromMs) waits.push(performance.now() - called)
      },
      // It would have waited for too long.
      () => {},
    )
  }
  return waits.reduce((sum, each) => sum + each, 0) / Math.max(1, waits.length)
})
