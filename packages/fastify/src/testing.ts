import type { AddressInfo } from 'node:net'
import { afterEach } from '@jest/globals'
import { type Reply, type SendOptions, send } from '@sluice/test-suites/client'
import type { FastifyInstance } from 'fastify'

const listening: FastifyInstance[] = []

afterEach(async () => {
  await Promise.all(
    listening.splice(0).map((app) => {
      app.server.closeAllConnections()
      return app.close()
    }),
  )
})

/** Sends one request, such as `'GET /path'`. */
export type Ask = (request: string, options?: SendOptions) => Promise<Reply>

/** Lets an application listen until the test ends. Over sockets: `inject` does not load in Jest. */
export async function listen(app: FastifyInstance): Promise<Ask> {
  if (!listening.includes(app)) {
    listening.push(app)
    await app.listen({ port: 0, host: '127.0.0.1' })
  }
  const port = portOf(app)
  return (request, options) => {
    const [method, path] = request.split(' ') as [string, string]
    return send({ host: '127.0.0.1', port }, { method, path, ...options })
  }
}

export function portOf(app: FastifyInstance): number {
  return (app.server.address() as AddressInfo).port
}

/** The status of each of the requests, sent one after the other. */
export async function statuses(app: FastifyInstance, ...requests: string[]): Promise<number[]> {
  const ask = await listen(app)
  const found: number[] = []
  for (const request of requests) found.push((await ask(request)).status)
  return found
}
