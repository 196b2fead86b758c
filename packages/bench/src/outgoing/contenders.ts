import { limitOutgoing } from '@sluice/outgoing'
import axios from 'axios'
import axiosRateLimit from 'axios-rate-limit'
import Bottleneck from 'bottleneck'
import { Redis } from 'ioredis'
import PQueue from 'p-queue'
import pThrottle from 'p-throttle'

/** The options of each contender. */
export interface Sending {
  readonly url: string
  readonly redis: string
  readonly limit: number
  readonly windowMs: number
  /** How many processes share the limit. */
  readonly processes: number
  /** The longest that a request may wait, ms, where the contender has such an option. */
  readonly maxWaitMs: number
}

/** Sends a request in its turn, and rejects if it does not. */
type Send = () => Promise<unknown>

/** A fetch that reads its answer, so that connections are used again. */
async function plain({ url }: Sending) {
  const response = await fetch(url)
  return response.text()
}

/** The limit of one process where processes know nothing of each other. */
const shareOf = ({ limit, processes }: Sending) => Math.floor(limit / processes)

/** Makes what sends for each contender. */
export const contenders: Record<string, (task: Sending) => Send> = {
  '@sluice/outgoing'(task) {
    const { url, limit, windowMs, maxWaitMs } = task
    // A bucket admits so much more than its limit.
    const burst = Math.ceil(limit / 50)
    const paced = limitOutgoing(fetch, {
      store: new Redis(task.redis),
      policies: [{ limit: limit - burst, window: windowMs, algorithm: 'token-bucket', burst }],
      maxWait: maxWaitMs,
      retry: { attempts: 1 },
    })
    return async () => (await paced(url)).text()
  },
  'bottleneck, group on Redis'(task) {
    const { limit, windowMs } = task
    const group = new Bottleneck.Group({
      id: 'bench',
      datastore: 'ioredis',
      clearDatastore: false,
      clientOptions: { host: '127.0.0.1', port: Number(new URL(task.redis).port) },
      reservoir: limit,
      reservoirRefreshAmount: limit,
      reservoirRefreshInterval: windowMs,
    })
    return () => group.key('provider').schedule(() => plain(task))
  },
  'p-throttle, a share each'(task) {
    return pThrottle({ limit: shareOf(task), interval: task.windowMs })(() => plain(task))
  },
  'p-queue, a share each'(task) {
    const queue = new PQueue({ intervalCap: shareOf(task), interval: task.windowMs })
    return () => queue.add(() => plain(task))
  },
  'axios-rate-limit, a share each'(task) {
    const client = axiosRateLimit(axios.create({ validateStatus: () => true }), {
      maxRequests: shareOf(task),
      perMilliseconds: task.windowMs,
    })
    return () => client.get(task.url)
  },
}
