// Calls a server as fast as it may, until it is killed: given the port of a Redis, a URL and options.

import { Redis } from 'ioredis'
import { limitOutgoing } from '../index.ts'

const { redis, url, options } = JSON.parse(process.argv.at(-1) as string)
const paced = limitOutgoing(fetch, { ...options, store: new Redis({ port: redis }) })
await Promise.all(Array.from({ length: 100 }, () => paced(url)))
