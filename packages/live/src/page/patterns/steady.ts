import type { Pattern } from './pattern.ts'

const EVERY_MS = 500
const REQUESTS = 40

export const steady: Pattern = {
  name: 'Steady',
  hint: '2 a second for 20 s: twice what the limit allows',
  plan: (now) => Array.from({ length: REQUESTS }, (_, i) => now + i * EVERY_MS),
}
