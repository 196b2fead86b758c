import * as runner from '@jest/globals'
import { everyStore, useRedis } from '@sluice/test-harness/jest'
import { adapterSuite } from '@sluice/test-suites'
import { memoryStore, redisStore } from './index.ts'
import { kit } from './suite-kit.ts'

const redis = useRedis()

adapterSuite(runner, "Node's server", kit, {
  memory: (clock) => memoryStore({ ...(clock && { clock }) }),
  ...(everyStore && {
    Redis: (clock?: () => number) => redisStore(redis.client, { ...(clock && { clock }) }),
  }),
})
