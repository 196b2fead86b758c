// Stores of the peers that stand in their packages without types.

declare module '@fastify/rate-limit/store/LocalStore.js' {
  type Callback = (error: Error | null, result: { current: number; ttl: number }) => void
  export default class LocalStore {
    constructor(continueExceeding: boolean, exponentialBackoff: boolean, cache: number)
    incr(key: string, callback: Callback, timeWindow: number, max: number): void
  }
}

declare module '@fastify/rate-limit/store/RedisStore.js' {
  type Callback = (error: Error | null, result: { current: number; ttl: number }) => void
  export default class RedisStore {
    constructor(continueExceeding: boolean, exponentialBackoff: boolean, redis: object)
    incr(key: string, callback: Callback, timeWindow: number, max: number): void
  }
}

declare module 'koa-ratelimit/limiter/memory.js' {
  export default class MemoryLimiter {
    constructor(options: { id: string; db: Map<string, unknown>; max: number; duration: number })
    get(): Promise<{ remaining: number; reset: number; total: number }>
  }
}

declare module 'koa-ratelimit/limiter/redis.js' {
  export default class RedisLimiter {
    constructor(options: { id: string; db: object; max: number; duration: number })
    get(): Promise<{ remaining: number; reset: number; total: number }>
  }
}
