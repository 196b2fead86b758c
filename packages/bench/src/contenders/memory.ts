import LocalStore from '@fastify/rate-limit/store/LocalStore.js'
import { createLimiter, memoryStore } from '@sluice/core'
import { MemoryStore, type Options } from 'express-rate-limit'
import MemoryLimiter from 'koa-ratelimit/limiter/memory.js'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { decideBy, FLEXIBLE } from './flexible.ts'
import { ALGORITHMS, policies, readAll } from './sluice.ts'
import { LIMIT, WINDOW_MS } from './terms.ts'

/** Counts one request of a key; gives some number of the answer, so that none is optimised away. */
export type Count = ((key: string) => number) | ((key: string) => Promise<number>)

/** The most keys of any run, and some more. */
const MAX_KEYS = 1_100_000

/** Contenders by name. Each call makes one that has no keys yet. */
export const memoryContenders: { readonly [name: string]: () => Count } = {
  ...Object.fromEntries(
    ALGORITHMS.map((algorithm) => {
      const count = () => {
        const limiter = createLimiter({ policies: policies(algorithm, 1) })
        return (key: string) => readAll(limiter.consume(key))
      }
      return [`sluice ${algorithm}`, count]
    }),
  ),

  'sluice sliding-window, 10 policies': () => {
    const limiter = createLimiter({ policies: policies('sliding-window', 10) })
    return (key) => readAll(limiter.consume(key))
  },

  // In a turn that asks often the memory store stops reading its clock, and a loop is one turn. So
  // this is what a decision costs that is the only one of its turn, as far as the clock goes.
  'sluice sliding-window, clock read each time': () => {
    const store = memoryStore({ clock: () => Date.now() })
    const limiter = createLimiter({ store, limit: LIMIT, window: WINDOW_MS })
    return (key) => readAll(limiter.consume(key))
  },

  '@fastify/rate-limit LocalStore.incr': () => {
    const store = new LocalStore(false, false, MAX_KEYS)
    let current = 0
    const read = (_error: Error | null, result: { current: number; ttl: number }) => {
      current = result.current + result.ttl
    }
    return (key) => {
      store.incr(key, read, WINDOW_MS, LIMIT)
      return current
    }
  },

  'express-rate-limit MemoryStore.increment': () => {
    const store = new MemoryStore()
    store.init({ windowMs: WINDOW_MS } as Options)
    return async (key) => (await store.increment(key)).totalHits
  },

  'koa-ratelimit MemoryLimiter.get': () => {
    const db = new Map<string, unknown>()
    // Its middleware makes a limiter for each request.
    return async (id) => {
      const limiter = new MemoryLimiter({ id, db, max: LIMIT, duration: WINDOW_MS })
      return (await limiter.get()).remaining
    }
  },

  'rate-limiter-flexible RateLimiterMemory.consume': () =>
    decideBy(new RateLimiterMemory(FLEXIBLE)),

  'floor: Map.get': () => {
    const map = new Map<string, number>()
    return (key) => {
      const slot = map.get(key)
      if (slot !== undefined) return slot
      map.set(key, map.size)
      return 0
    }
  },
}
