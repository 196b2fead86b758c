export { createLimiter } from '../../../limiter/create-limiter.ts'
export { memoryStore } from '../memory-store.ts'
