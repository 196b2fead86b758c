import { setTimeout as delay } from 'node:timers/promises'

export interface UntilOptions {
  /**
   * The longest wait, in milliseconds. Default: 30 s, far beyond what anything awaited takes, also
   * on a machine that stalls; less only where a test is about the bound.
   */
  readonly withinMs?: number
  /** The pause between two tries, in milliseconds. */
  readonly everyMs?: number
  /** The awaited condition, for the error: "three masters agree". */
  readonly what: string
}

/**
 * Waits until the condition holds and gives what it returned, which is anything truthy.
 *
 * @throws Error naming `what`, when `withinMs` have passed: also when one try never settles.
 * @throws What the condition throws, immediately: "not yet" is a falsy value, never an error.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  { withinMs = 30_000, everyMs = 5, what }: UntilOptions,
): Promise<T> {
  const ended = new AbortController()
  const late = delay(withinMs, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`gave up after ${withinMs} ms of waiting until ${what}`)
  })
  late.catch(() => {})
  try {
    for (;;) {
      const value = await Promise.race([condition(), late])
      if (value) return value
      await Promise.race([delay(everyMs), late])
    }
  } finally {
    ended.abort()
  }
}
