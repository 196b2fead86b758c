import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { nodeExchange } from '../node/node-exchange.ts'
import type { RateLimitOptions } from '../options/options.generated.ts'
import type { Routes } from '../options/rate-limit-options.ts'
import { RoutedLimiter } from '../path/routed-limiter.ts'
import type { RequestAdapter } from '../request-adapter.ts'

/** Node's own server as a framework. */
export const plain: RequestAdapter<IncomingMessage, ServerResponse> = {
  ...nodeExchange<IncomingMessage, ServerResponse>(
    (request) => request,
    (response) => response,
  ),
  address: ({ socket }) => socket.remoteAddress,
  proxyTrust: () => 'nobody',
  user: (request) => (request as { user?: unknown }).user,
  path: ({ url }) => url as string,
  route: () => undefined,
}

export type PlainOptions = RateLimitOptions<IncomingMessage, ServerResponse> & {
  routes?: Routes<IncomingMessage, ServerResponse>
}

export interface PlainAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface PlainServer {
  readonly port: number
  readonly httpLimiters: readonly RoutedLimiter<IncomingMessage, ServerResponse>[]
  send(method?: string, path?: string): Promise<PlainAnswer>
  /** Ends every connection. */
  stop(): Promise<void>
}

/** A server behind limiters, one after the other. */
export async function servePlain(
  limiters: readonly PlainOptions[],
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<PlainServer> {
  const httpLimiters = limiters.map((options) => new RoutedLimiter(options, plain))
  const server = createServer(async (request, response) => {
    for (const each of httpLimiters) {
      if (!(await each.handle(request, response))) return
    }
    handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    httpLimiters: httpLimiters,
    send: (method = 'GET', path = '/') => send(port, method, path),
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

async function send(port: number, method: string, path: string): Promise<PlainAnswer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, redirect: 'manual' })
  const { status, headers } = response
  return { status, headers: Object.fromEntries(headers), body: await response.text() }
}
