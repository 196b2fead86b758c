export { useRedis } from './use-redis.ts'
