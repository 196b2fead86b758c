import type { Socket } from 'node:net'

/**
 * Destroys a socket so that the other side sees ECONNRESET, unless this side has ended it already:
 * a reset during the shutdown fails, and Node then never exits (seen in 20.20).
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
