export { bursts } from './bursts.ts'
export { edge } from './edge.ts'
export type { Pattern } from './pattern.ts'
export { steady } from './steady.ts'
