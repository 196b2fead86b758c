// Reads all keys of a store again and again, as `sluice top` does, until its parent ends it. Tells how
// long each reading took, and what memory it needed.

import process, { argv, memoryUsage } from 'node:process'
import { redisStore } from '@sluice/core'
import { Redis } from 'ioredis'

const store = redisStore(new Redis(argv[2] as string))

for (;;) {
  const began = performance.now()
  let keys = 0
  let most = 0
  for await (const { used = 0 } of store.inspect()) {
    keys += 1
    most = Math.max(most, used)
  }
  const rss = memoryUsage.rss() / 2 ** 20
  process.send?.({ seconds: (performance.now() - began) / 1000, keys, most, rss } satisfies Swept)
}

/** One reading of all keys. */
export interface Swept {
  readonly seconds: number
  readonly keys: number
  /** Units that the busiest one has used. */
  readonly most: number
  /** The resident memory of the process after the sweep, MB. */
  readonly rss: number
}
