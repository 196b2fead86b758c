import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Whether the server lets in who does not come over its machine's loopback address. */
export function isOpenToOthers(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), addressOfNetwork())
  return new Promise((resolve) => {
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
  }).then((open) => {
    socket.destroy()
    return open as boolean
  })
}

/** The address of this machine in its network; where it has none, one that only a server for all has. */
function addressOfNetwork(): string {
  const addresses = Object.values(networkInterfaces()).flat()
  const found = addresses.find((each) => each?.family === 'IPv4' && !each.internal)
  return found?.address ?? '127.0.0.2'
}
