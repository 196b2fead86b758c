import { setTimeout as delay } from 'node:timers/promises'

const TICK_MS = 5

/**
 * Resolves when this process has run for so many milliseconds, or more. A stall of the machine, or
 * of the event loop, counts as 5 ms: so it bounds what is awaited by what the process did meanwhile.
 */
export async function runningTime(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += TICK_MS) await delay(TICK_MS)
}
