// Compiled as ESM (.mts) and as CommonJS (.cts) against the packed declarations; never run.

import { createServer } from 'node:http'
import { createSecureServer } from 'node:http2'
import byDefault, { RateLimitError, rateLimit } from '@sluice/node'
import shedLoad from '@sluice/node/overload'

const limit = rateLimit({ limit: 2, window: '1m', key: ({ url }) => url })

// @ts-expect-error A limit in quotes is an error: the types are not any.
rateLimit({ limit: '2', window: '1m' })

export const server = createServer((request, response) => {
  limit(request, response, () => {
    response.end(`${request.rateLimit?.remaining}`)
    // @ts-expect-error It is a Decision, not any.
    request.rateLimit?.limits
  })
})
server.on('upgrade', (request, socket) => {
  limit.upgrade(
    request,
    socket,
    () => socket.end(),
    (error) => socket.destroy(error as Error),
  )
})

export const secure = createSecureServer({}, (request, response) => {
  limit(request, response, () => response.end(`${request.rateLimit?.remaining}`))
})

export const isRefusal = (error: unknown): boolean => error instanceof RateLimitError

export const defaults: readonly [typeof rateLimit, ReturnType<typeof shedLoad>] = [
  byDefault,
  shedLoad(),
]
// @ts-expect-error The default is not any either.
byDefault({ limit: '2', window: '1m' })
