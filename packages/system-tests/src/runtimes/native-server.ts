import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Context, Hono } from 'hono'

/** The functions of Bun and Deno that the tests need: neither's types are loaded. */
interface Bun {
  serve(options: {
    readonly port?: number
    readonly hostname?: string
    readonly unix?: string
    readonly idleTimeout: number
    fetch(request: Request, server: object): Response | Promise<Response>
  }): { readonly port: number; stop(closesConnections: boolean): Promise<void> }
}
interface Deno {
  serve(
    options: {
      readonly port?: number
      readonly hostname?: string
      readonly path?: string
      onListen(): void
    },
    handle: (request: Request, info: object) => Response | Promise<Response>,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> }
}

const { Bun: bun, Deno: deno } = globalThis as { Bun?: Bun; Deno?: Deno }

/** Where a server listens. */
type Place = { readonly hostname: string } | { readonly socket: string }

/** A server that listens, and what ends it. */
type Started = readonly [port: number, stop: () => Promise<void>]

function startBun({ serve }: Bun, place: Place, { fetch }: Hono): Started {
  const on = 'socket' in place ? { unix: place.socket } : { port: 0, ...place }
  const server = serve({ ...on, idleTimeout: 0, fetch: (request, own) => fetch(request, own) })
  return [server.port, () => server.stop(true)]
}

function startDeno({ serve }: Deno, place: Place, { fetch }: Hono): Started {
  const on = 'socket' in place ? { path: place.socket } : { port: 0, ...place }
  const server = serve({ ...on, onListen() {} }, (request, info) => fetch(request, info))
  return [server.addr.port, () => server.shutdown()]
}

/** The server of Bun or Deno, whichever runs this, for an application: with what the suite needs of Node's. */
export function nativeServer(app: Hono): Server {
  let started: Started | undefined
  const listen = (at: number | string, ...others: (string | (() => void))[]) => {
    const place = typeof at === 'string' ? { socket: at } : { hostname: others[0] as string }
    started = deno === undefined ? startBun(bun as Bun, place, app) : startDeno(deno, place, app)
    ;(others.at(-1) as () => void)()
  }
  return {
    once() {},
    listen,
    address: () => ({ port: started?.[0] }) as AddressInfo,
    closeAllConnections() {},
    close: (callback: () => void) => void started?.[1]().then(callback),
  } as unknown as Server
}

/** The address of the client, as the server of Bun or Deno says it. */
export async function nativeAddress(): Promise<(c: Context) => string | undefined> {
  const { getConnInfo } = await (deno === undefined ? import('hono/bun') : import('hono/deno'))
  return (c) => getConnInfo(c).remote.address
}
