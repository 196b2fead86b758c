export { describeUnless } from './describe-unless.ts'
export { useRedis } from './use-redis.ts'
