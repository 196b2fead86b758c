import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach } from '@jest/globals'
import { type Reply, type SendOptions, send } from '@sluice/test-suites/client'
import Koa3 from 'koa'
import Koa2 from 'koa2'

/** The versions of Koa that every test runs on. */
export const VERSIONS = [
  ['Koa 3', Koa3],
  ['Koa 2', Koa2 as unknown as typeof Koa3],
] as const

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

export interface Site {
  readonly url: string
  send(path?: string, options?: SendOptions): Promise<Reply>
  /** The statuses of the same request, sent so many times, one after the other. */
  statuses(count: number, path?: string, options?: SendOptions): Promise<number[]>
}

/** Serves the application until the test ends. */
export async function listen(app: Pick<Koa3, 'callback'>): Promise<Site> {
  const server = createServer(app.callback())
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const sendOne = (path = '/', options?: SendOptions) =>
    send({ host: '127.0.0.1', port }, { path, ...options })
  return {
    url: `http://127.0.0.1:${port}`,
    send: sendOne,
    async statuses(count, path, options) {
      const statuses: number[] = []
      for (let i = 0; i < count; i += 1) statuses.push((await sendOne(path, options)).status)
      return statuses
    },
  }
}
