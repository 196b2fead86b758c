import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Elysia } from 'elysia'

/** What `listen` of Elysia passes to its callback: Bun's server, or that of @elysiajs/node. */
interface Listening {
  readonly port: number
  readonly raw?: { readonly node: { readonly server: Server }; ready(): Promise<unknown> }
  stop(closesConnections: boolean): Promise<void>
}

/** The server of an application of Elysia, with what the suite needs of Node's. */
export function elysiaServer(app: Elysia): Server {
  let server: Listening | undefined
  const listen = (at: number | string, ...others: (string | (() => void))[]) => {
    const place =
      typeof at === 'string' ? { unix: at } : { port: at, hostname: others[0] as string }
    app.listen(
      { ...place, idleTimeout: 0 } as never,
      (async (started: Listening) => {
        server = started
        await started.raw?.ready()
        ;(others.at(-1) as () => void)()
      }) as never,
    )
  }
  return {
    once() {},
    listen,
    address: () => server?.raw?.node.server.address() ?? ({ port: server?.port } as AddressInfo),
    closeAllConnections: () => server?.raw?.node.server.closeAllConnections(),
    close: (callback: () => void) => void server?.stop(true).then(callback),
  } as unknown as Server
}
