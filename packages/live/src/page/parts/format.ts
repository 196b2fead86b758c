import { WINDOW_MS } from '../../limits.ts'

/** `3.2 s`, with a space that keeps them in one line. */
export function seconds(ms: number): string {
  return `${(Math.max(0, ms) / 1000).toFixed(1)}\u00a0s`
}

/** How long the limiters' window is, in the same form. */
export const WINDOW = `${WINDOW_MS / 1000}\u00a0s`
