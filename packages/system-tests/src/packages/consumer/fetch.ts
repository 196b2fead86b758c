// Compiled without the types of Node, as a worker is, against the packed declarations; never run.

import { createLimiter } from '@sluice/core'
import { limitFetch } from '@sluice/hono'

export const limiter = createLimiter({ limit: 2, window: '1m' })

export const fetch = limitFetch(
  {
    limit: 2,
    window: '1m',
    key: (request) => request.headers.get('cf-connecting-ip') ?? undefined,
  },
  () => new Response('hello'),
)
