import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { rateLimit } from '@sluice/express'
import express, { type Request } from 'express'

export interface Site {
  readonly url: string
  /** Requests by path. */
  readonly requests: ReadonlyMap<string, number>
  stop(): Promise<void>
}

/** One request a second, or ever, for each path; and the Retry-After that Sluice never sends. */
export async function serveClients(): Promise<Site> {
  const requests = new Map<string, number>()
  const app = express()
  const key = ({ originalUrl }: Request) => originalUrl
  const second = { limit: 1, window: '1s', algorithm: 'sliding-log', key } as const
  app.use(({ originalUrl }, _, next) => {
    requests.set(originalUrl, (requests.get(originalUrl) ?? 0) + 1)
    next()
  })
  app.use('/second', rateLimit(second))
  app.use('/legacy', rateLimit({ ...second, headers: 'legacy' }))
  app.use('/forever', rateLimit({ limit: 1, window: '10y', key }))
  app.use('/overflow', (_, response) => {
    response.status(429).set('Retry-After', '2147484').end()
  })
  app.use((_, response) => {
    response.json({})
  })
  const server: Server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
