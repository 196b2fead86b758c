import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { LOOPBACK } from '../../redis/ports.ts'

/** An address that leads to one server and then to another, as that of a failover does. */
export interface Forwarder {
  readonly port: number
  /** Where connections lead that are made from now on. Those that stand stay where they are. */
  lead(port: number): void
  close(): Promise<void>
}

export async function startForwarder(target: number): Promise<Forwarder> {
  let port = target
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(port, LOOPBACK)
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
    close: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}
