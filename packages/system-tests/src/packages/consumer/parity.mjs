// Prints how many decisions of the memory store and of the one in Redis were the same, and which were not:
// the Lua is published without its comments.

import { createLimiter, memoryStore, redisStore } from '@sluice/core'
import { algorithms } from '@sluice/core/algorithms'
import { manualClock } from '@sluice/core/testing'
import { Redis } from 'ioredis'

const client = new Redis(process.argv[2])
const LIMITS = [
  ...Object.keys(algorithms).map((algorithm) => ({ limit: 7, window: '1m', algorithm })),
  { limit: 7, window: 'day', timeZone: 'Europe/Berlin' },
  { limit: 3, window: '1m', ban: { after: 2, within: '1h', for: ['5m', '10m'] } },
  { concurrent: 3, hold: '10s' },
]
let same = 0
const different = []
for (const [i, options] of LIMITS.entries()) {
  const clock = manualClock()
  const stores = [memoryStore({ clock }), redisStore(client, { clock })]
  const [memory, redis] = stores.map((store) =>
    createLimiter({ ...options, store, prefix: `p${i}`, deadline: '10s', refusalCache: false }),
  )
  for (let step = 0; step < 60; step += 1) {
    clock.advance(((step * 7919) % 17) * 1000)
    const cost = 1 + (step % 3)
    const act = async (limiter) => {
      if ('concurrent' in options) return limiter.acquire('a')
      if (step % 10 === 9) await limiter.settle('a', -1, { at: clock() - 1000 })
      return limiter.consume('a', { cost })
    }
    const found = await Promise.all([memory, redis].map(act))
    const [one, other] = found.map(({ source: _, ...decision }) => JSON.stringify(decision))
    if (one === other && found[1].source === 'store') same += 1
    else different.push([options, step, one, other])
  }
}
client.disconnect()
console.log(JSON.stringify({ same, different: different.slice(0, 3) }))
