/**
 * A window of at most `longestMs`, not much shorter, of which more than half is left now. Windows are aligned to
 * the epoch on the store's clock, which here is this machine's: one that ends in the middle of a test changes
 * what the test counts on.
 */
export function windowWithRoom(longestMs: number, now: number = Date.now()): number {
  let window = longestMs
  while (now % window >= window / 2) window -= Math.ceil(longestMs / 1000)
  return window
}
