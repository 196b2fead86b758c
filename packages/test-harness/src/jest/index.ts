export { describeUnless } from './describe-unless.ts'
export { everyStore } from './every-store.ts'
export { scratch } from './scratch.ts'
export { useRedis } from './use-redis.ts'
