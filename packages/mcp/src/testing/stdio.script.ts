// A server over stdio, whose limits are in REDIS_URL, or in memory.

import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { Redis } from 'ioredis'
import { createMcpLimiter } from '../index.ts'
import { library } from './library.ts'

const { REDIS_URL } = process.env
const DAY = { window: '1d', algorithm: 'sliding-log' } as const
const limiter = createMcpLimiter({
  ...(REDIS_URL && { store: new Redis(REDIS_URL), deadline: '30s' as const }),
  key: () => 'user:local',
  limit: 50,
  ...DAY,
  tools: { search: { limit: 10, ...DAY } },
  resources: { limit: 5, ...DAY },
})
serveStdio(() => limiter.apply(library()))
