// Calls a server a hundred times, as fast as it may, and says how many calls were sent: given the options of a Redis
// client, a URL and options.

import { Redis } from 'ioredis'
import { limitOutgoing } from '../index.ts'

const { redis, url, options } = JSON.parse(process.argv.at(-1) as string)
const store = new Redis(redis)
store.on('error', () => {})
const paced = limitOutgoing(fetch, { ...options, store })
await Promise.allSettled(Array.from({ length: 100 }, async () => (await paced(url)).text()))
paced.close()
store.disconnect()
