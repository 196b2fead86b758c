import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { LOOPBACK } from '../../redis/ports.ts'

/** An address that leads to one server and then to another, as that of a failover does. */
export interface Forwarder {
  readonly port: number
  /** Where connections lead that are made from now on. Those that stand stay where they are. */
  lead(port: number): void
  /** From now on what the server answers on the connections that stand is lost. */
  deafen(): void
  /** Ends the connections that stand. */
  cut(): void
  close(): Promise<void>
}

export async function startForwarder(target: number): Promise<Forwarder> {
  let port = target
  const sockets = new Set<Socket>()
  /** Those of them that lead to a server. */
  const fars = new Set<Socket>()
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((near) => {
    const far = connect(port, LOOPBACK)
    fars.add(far)
    far.on('close', () => fars.delete(far))
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  server.listen(0, LOOPBACK)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    lead: (to) => {
      port = to
    },
    deafen: () => {
      for (const far of fars) far.unpipe().resume()
    },
    cut,
    close: async () => {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}
