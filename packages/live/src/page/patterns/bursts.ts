import type { Pattern } from './pattern.ts'

const BURSTS = 4
const EVERY_MS = 5000
const REQUESTS = 8
/** The pause between the requests of a burst, ms. */
const GAP_MS = 30

export const bursts: Pattern = {
  name: 'Bursts',
  hint: '8 together, every 5 s, four times',
  plan: (now) =>
    Array.from({ length: BURSTS * REQUESTS }, (_, i) => {
      const burst = Math.floor(i / REQUESTS)
      return now + burst * EVERY_MS + (i % REQUESTS) * GAP_MS
    }),
}
